#ifndef PI_INTERCOM_TESTS_SUPPORT_WATCH_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_WATCH_RIG_H_

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/storage/store_checker.h"
#include "broker/work/event_feed.h"
#include "broker/work/inspection_desk.h"
#include "broker/work/jobs.h"
#include "broker/work/overview_watch.h"
#include "broker/work/watch_desk.h"
#include "tests/support/work_rig.h"

namespace intercom {

// Everything that is watched, fed by the rooms below: a coordinator c-1 and the
// workers w-1 "Builder" and w-2 "Tester", of whom nobody is attached yet.
class WatchRig : public WorkRig {
 protected:
  explicit WatchRig(MailLimits limits = {}) : WorkRig(limits) {
    registrar_.AddObserver(overview_);
    registrar_.AddObserver(feed_);
    dispatcher_.SetWatchers(
        {[this](const DeliveryNews& news) { feed_.OnDelivery(news); },
         [this](const v1::DeliveryRecord& record) {
           feed_.OnOffered(record);
         }});
    mail_.SetOnRefused(
        [this](const absl::Status& why) { feed_.OnRefused(why); });
    mirror_.AddOnChanged(
        [this](const Workspace& workspace) { feed_.OnWorkspace(workspace); });
    jobs_.AddOnChanged([this](const JobRow& job) { feed_.OnJob(job); });
    runs_.AddOnChanged(
        [this](const RunRow& run, Runs::News news) { feed_.OnRun(run, news); });
    asks_.SetOnChanged([this](const AskRow& ask) { feed_.OnAsk(ask); });
    asks_.SetOnWaits([this] { overviews_.OnChanged(); });
    run_waits_.SetOnWaits([this] { overviews_.OnChanged(); });
    report_desk_.SetOnReported(
        [this](const v1::Sender& worker, const v1::Report& report) {
          feed_.OnReport(worker, report);
        });
    WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                   {"w-1", "Builder"},
                                   {"w-2", "Tester"}}));
  }
  ~WatchRig() override { runner_->Stop(); }

  // One stream of a client.
  template <typename Response>
  struct Stream {
    std::shared_ptr<Watch<Response>> watch;
    std::shared_ptr<std::atomic<int>> wakes =
        std::make_shared<std::atomic<int>>(0);

    WatchWake Wake() const {
      return [wakes = wakes] { ++*wakes; };
    }
    // Everything that is there now.
    std::vector<Response> TakeAll() {
      std::vector<Response> taken;
      while (true) {
        auto next = watch->Take();
        EXPECT_THAT(next, IsOk());
        if (!next.ok() || *next == nullptr) return taken;
        taken.push_back(**next);
      }
    }
  };
  using Events = Stream<v1::WatchEventsResponse>;
  using Overviews = Stream<v1::WatchOverviewResponse>;

  absl::StatusOr<Events> TryWatchEvents(const std::string& cursor = "",
                                        const std::string& directory = "") {
    v1::WatchEventsRequest request;
    request.set_cursor(cursor);
    request.set_directory(directory);
    return Begin<v1::WatchEventsResponse>(&WatchDesk::WatchEvents, request);
  }
  absl::StatusOr<Overviews> TryWatchOverview(
      const std::string& directory = "") {
    v1::WatchOverviewRequest request;
    request.set_directory(directory);
    return Begin<v1::WatchOverviewResponse>(&WatchDesk::WatchOverview, request);
  }
  // Begun, with its first response taken.
  Events WatchEvents() {
    auto events = TryWatchEvents();
    EXPECT_THAT(events, IsOk());
    EXPECT_EQ(events->TakeAll().size(), 1u);
    return *events;
  }

  // Lets time pass for the timers of the state's thread.
  void Pass(absl::Duration by) {
    clock_.Advance(by);
    runner_->WakeTimers();
    Sync();
  }
  // Everything as it is now, in a watch of its own.
  v1::WatchOverviewResponse OverviewNow(const std::string& directory = "") {
    auto overviews = TryWatchOverview(directory);
    EXPECT_THAT(overviews, IsOk());
    if (!overviews.ok()) return {};
    auto taken = overviews->TakeAll();
    return taken.empty() ? v1::WatchOverviewResponse() : taken.front();
  }
  // The row of a session; empty for one that is not shown.
  static v1::SessionOverview RowOf(const v1::WatchOverviewResponse& overview,
                                   const std::string& session_id) {
    for (const auto& workspace : overview.workspaces()) {
      for (const auto& session : workspace.sessions()) {
        if (session.entry().session_id() == session_id) return session;
      }
    }
    return {};
  }
  int64_t CounterOf(const std::string& name, const std::string& label = "") {
    const auto metrics = OnState([&] { return metrics_.Describe(); });
    for (const v1::Counter& counter : metrics.counters()) {
      if (counter.name() == name && counter.label() == label) {
        return counter.value();
      }
    }
    return -1;
  }

  static v1::Envelope Question(const std::string& id) {
    v1::Envelope ask = Message(id);
    ask.set_kind(v1::ENVELOPE_KIND_ASK);
    *ask.mutable_reply_within() = ToProtoDuration(absl::Minutes(10));
    return ask;
  }
  // A run of the coordinator's at "Builder"; its delivery id.
  std::string OpenRun(const TestSession& coordinator, const std::string& id) {
    v1::SendRequest request;
    *request.mutable_envelope() = Message(id);
    request.set_to("Builder");
    request.set_reach(v1::REACH_ACCOUNT);
    request.mutable_run()->set_label("a label");
    RecordAnswer answer;
    mail_.Send(CallOf(coordinator), request, answer.Callback());
    const auto record = answer.Wait();
    EXPECT_THAT(record, IsOk());
    Sync();
    return record.ok() ? record->delivery_id() : "";
  }

  const v1::GetBrokerResponse self_ = [this] {
    v1::GetBrokerResponse self;
    self.set_version("0.0.0");
    *self.mutable_started_at() = ToProto(clock_.Now());
    self.add_notices("a notice");
    return self;
  }();
  Jobs jobs_{*runner_, job_store_, fences_, clock_};
  EventLog events_{"start"};
  Metrics metrics_{clock_};
  Overview overview_{roster_,  mirror_,       view_, mailboxes_, session_store_,
                     reports_, observations_, runs_, run_waits_, asks_,
                     metrics_, clock_,        self_};
  OverviewWatch overviews_{*runner_, overview_, clock_};
  EventFeed feed_{
      events_, metrics_, roster_, mirror_,
      runs_,   fences_,  clock_,  [this] {
                    overviews_.OnChanged(); }};
  WatchDesk watches_{*runner_, workspaces_, gate_,  mirror_,
                     events_,  overviews_,  clock_, "0.0.0"};
  StoreChecker checker_{runner_->database().path(), clock_};
  InspectionDesk looks_{*runner_,       workspaces_, roster_,  mirror_,
                        session_store_, handoffs_,   view_,    asks_,
                        runs_,          dispatcher_, metrics_, *reader_,
                        checker_,       clock_};

 private:
  template <typename Response, typename Request>
  absl::StatusOr<Stream<Response>> Begin(
      void (WatchDesk::*method)(CallerEvidence, Request, WatchWake,
                                WatchDesk::Begun<Response>),
      const Request& request) {
    Stream<Response> stream;
    Answer<absl::StatusOr<std::shared_ptr<Watch<Response>>>> begun;
    (watches_.*method)(Person(), request, stream.Wake(), begun.Callback());
    auto watch = begun.Wait();
    Sync();
    if (!watch.ok()) return watch.status();
    stream.watch = *std::move(watch);
    return stream;
  }
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_WATCH_RIG_H_
