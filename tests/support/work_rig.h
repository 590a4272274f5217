#ifndef PI_INTERCOM_TESTS_SUPPORT_WORK_RIG_H_
#define PI_INTERCOM_TESTS_SUPPORT_WORK_RIG_H_

#include <functional>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/base/proto_time.h"
#include "broker/storage/job_store.h"
#include "broker/storage/monitor_pane_store.h"
#include "broker/storage/observation_store.h"
#include "broker/storage/reader.h"
#include "broker/storage/report_store.h"
#include "broker/work/abandoned_workspaces.h"
#include "broker/work/config_desk.h"
#include "broker/work/controls.h"
#include "broker/work/coordinator_desk.h"
#include "broker/work/inspection.h"
#include "broker/work/mail.h"
#include "broker/work/mailbox_heirs.h"
#include "broker/work/observations.h"
#include "broker/work/person_inbox.h"
#include "broker/work/prober.h"
#include "broker/work/report_desk.h"
#include "broker/work/reports.h"
#include "broker/work/roster_news.h"
#include "broker/work/roster_view.h"
#include "broker/work/run_notes.h"
#include "broker/work/run_stops.h"
#include "broker/work/run_waits.h"
#include "broker/work/status_desk.h"
#include "broker/work/worker_desk.h"
#include "broker/work/workspaces.h"
#include "tests/support/routing_rig.h"

namespace intercom {

// Everything above storage, over a database in a file: history has a connection
// of its own.
class WorkRig : public RoutingRig {
 protected:
  explicit WorkRig(MailLimits limits = {})
      : WorkRig(limits, std::make_unique<TempDir>()) {}
  ~WorkRig() override { runner_->Stop(); }

  // A coordinator c-1 and a worker w-1 "Reviewer".
  void WriteTeam() {
    WriteConfig(root_,
                ConfigText({{"c-1", "Coordinator"}, {"w-1", "Reviewer"}}));
  }
  // Attached and ready for mail.
  TestSession Join(const std::string& session_id) {
    TestSession session = Attach(session_id);
    SayPresent(session, {});
    return session;
  }
  static CallerEvidence CallOf(const TestSession& session) {
    CallerEvidence evidence;
    evidence.stream = session.key;
    return evidence;
  }
  static CallerEvidence Person() { return {}; }

  absl::StatusOr<v1::DeliveryRecord> Send(const CallerEvidence& evidence,
                                          const std::string& to,
                                          v1::Envelope envelope,
                                          const std::string& directory = "") {
    v1::SendRequest request;
    *request.mutable_envelope() = std::move(envelope);
    request.set_to(to);
    request.set_directory(directory);
    RecordAnswer answer;
    mail_.Send(evidence, request, answer.Callback());
    auto record = answer.Wait();
    Sync();
    return record;
  }

  // The sender takes its envelope back.
  absl::StatusOr<v1::WithdrawMessageResponse> TakeBack(
      const CallerEvidence& evidence, const std::string& envelope_id,
      bool request_if_late = false) {
    v1::WithdrawMessageRequest request;
    request.set_envelope_id(envelope_id);
    request.set_request_if_late(request_if_late);
    return CallOn(mail_, &Mail::Withdraw, evidence, request);
  }

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;
  // Calls a method of a desk and waits for its answer.
  template <typename Desk, typename Response, typename Request>
  absl::StatusOr<Response> CallOn(
      Desk& desk, void (Desk::*method)(CallerEvidence, Request, Done<Response>),
      const CallerEvidence& evidence, const Request& request) {
    Answer<absl::StatusOr<Response>> answer;
    (desk.*method)(evidence, request, answer.Callback());
    auto response = answer.Wait();
    Sync();
    return response;
  }
  template <typename Response, typename Request>
  absl::StatusOr<Response> Call(
      void (WorkerDesk::*method)(CallerEvidence, Request, Done<Response>),
      const CallerEvidence& evidence, const Request& request) {
    return CallOn(desk_, method, evidence, request);
  }
  absl::StatusOr<v1::ReportWorkResponse> ReportWork(
      const TestSession& session, v1::Report::Status status,
      const std::string& summary) {
    v1::ReportWorkRequest request;
    request.set_status(status);
    request.set_summary(summary);
    return CallOn(report_desk_, &ReportDesk::ReportWork, CallOf(session),
                  request);
  }
  // Makes what the host says of its activity known.
  void SayActivity(const TestSession& session, v1::ActivityPhase phase,
                   const std::string& label = "") {
    v1::Activity activity;
    activity.set_phase(phase);
    activity.set_label(label);
    registrar_.SetActivity(session.key, activity);
    Sync();
  }
  // Deliveries of a kind to a session so far.
  static std::vector<v1::Delivery> DeliveriesOf(const TestSession& session,
                                                v1::EnvelopeKind kind) {
    std::vector<v1::Delivery> found;
    for (const v1::Delivery& delivery : session.link->deliveries()) {
      if (delivery.envelope().kind() == kind) found.push_back(delivery);
    }
    return found;
  }
  static std::vector<v1::Delivery> NoticesOf(const TestSession& session,
                                             const std::string& topic) {
    std::vector<v1::Delivery> found;
    for (const v1::Delivery& delivery : session.link->deliveries()) {
      if (delivery.envelope().topic() == topic) found.push_back(delivery);
    }
    return found;
  }
  // Has `call` decided, and what it asks of the config's lane wait there until
  // `meanwhile` has happened.
  void WhileQueued(const std::function<void()>& call,
                   const std::function<void()>& meanwhile) {
    std::promise<void> release_first, release_second, reached_second;
    Answer<absl::StatusOr<ConfigSnapshotPtr>> passed;
    const auto hold = [this](std::promise<void>& release,
                             std::promise<void>* reached, auto done) {
      lanes_.Update(
          root_,
          [&release,
           reached](const ReadConfig& read) -> absl::StatusOr<std::string> {
            if (reached != nullptr) reached->set_value();
            release.get_future().wait();
            return read.bytes;
          },
          nullptr, std::move(done));
    };
    hold(release_first, nullptr, [](auto) {});
    call();
    Sync();  // Its look at the config waits.
    hold(release_second, &reached_second, passed.Callback());
    release_first.set_value();
    reached_second.get_future().wait();
    Sync();  // It is decided.
    meanwhile();
    release_second.set_value();
    EXPECT_THAT(passed.Wait(), IsOk());
    Sync();
  }
  // A close job of a session, in this state since now.
  void CloseJobIs(const std::string& session_id, v1::Job::State state,
                  const std::string& job_id = "j-1") {
    JobRow job;
    job.job_id = job_id;
    job.kind = v1::Job::KIND_CLOSE;
    job.root = root_;
    job.session_id = session_id;
    job.state = state;
    job.created_at = job.updated_at = clock_.Now();
    OnState([&] {
      EXPECT_THAT(job_store_.Put(job), IsOk());
      fences_.Keep(job);
      return true;
    });
  }
  void HandoffIs(const std::string& session_id, const std::string& summary) {
    v1::Handoff handoff;
    handoff.set_job_id("j-1");
    handoff.set_summary(summary);
    *handoff.mutable_updated_at() = ToProto(clock_.Now());
    OnState([&] {
      EXPECT_THAT(handoffs_.Put(root_, session_id, handoff), IsOk());
      return true;
    });
  }
  // What is stored, the newest first.
  std::vector<v1::Observation> Observed(const std::string& session_id = "") {
    runner_->PostTask([this] { observations_.Flush(); });
    Sync();
    return OnState(
        [&] { return observation_store_.List(session_id, 1000).value(); });
  }
  std::unique_ptr<TempDir> store_dir_;
  std::unique_ptr<Reader> reader_ =
      Reader::Open(runner_->database().path()).value();
  Controls controls_{*runner_, roster_, random_};
  JobStore job_store_{runner_->database()};
  HandoffStore handoffs_{runner_->database()};
  Fences fences_;
  ReportStore report_store_{runner_->database()};
  ObservationStore observation_store_{runner_->database()};
  Observations observations_{*runner_, observation_store_, roster_, clock_};
  Reports reports_{report_store_, clock_, Reports::kOverdueAfter};
  RosterView view_{roster_, mailboxes_, session_store_, reports_, fences_};
  Workspaces workspaces_{*runner_, lanes_, gate_, roster_, "/home/of-nobody"};
  PeerDirectory peers_{workspaces_, mirror_, roster_, session_store_, view_};
  MailboxHeirs heirs_{mirror_, roster_, session_store_, dispatcher_};
  AskStore ask_store_{runner_->database()};
  AskDesk asks_{*runner_,    workspaces_, roster_, ask_store_,
                deliveries_, dispatcher_, clock_};
  RunStore run_store_{runner_->database()};
  NoteStore note_store_{runner_->database()};
  HeadlessWorkers headless_{roster_, session_store_, job_store_};
  Runs runs_{run_store_, clock_};
  RunTeller run_teller_{*runner_,    roster_,   runs_, run_store_,
                        note_store_, headless_, clock_};
  RunDesk run_desk_{*runner_,   workspaces_, roster_, runs_,
                    run_store_, dispatcher_, clock_};
  RunOpenings run_openings_{roster_,    peers_,    runs_,
                            run_store_, run_desk_, headless_};
  RunStops run_stops_{*runner_,    workspaces_, roster_, runs_,
                      run_store_,  run_desk_,   fences_, controls_,
                      dispatcher_, clock_};
  RunWaits run_waits_{*runner_,  workspaces_, runs_, run_store_,
                      run_desk_, asks_,       clock_};
  RunNotes run_notes_{*runner_,  workspaces_, run_store_,  note_store_,
                      headless_, asks_,       run_teller_, clock_};
  Mail mail_{*runner_,    workspaces_,   roster_,       dispatcher_,
             deliveries_, report_store_, *reader_,      fences_,
             peers_,      asks_,         run_openings_, clock_};
  MonitorPaneStore monitor_panes_{runner_->database()};
  AbandonedWorkspaces abandoned_{
      *runner_,       lanes_,  mirror_, workspace_store_,
      monitor_panes_, roster_, clock_};
  PersonInbox inbox_{*runner_, workspaces_.callers(), dispatcher_, *reader_};
  WorkerDesk desk_{*runner_, lanes_,         workspaces_, mirror_,
                   roster_,  session_store_, dispatcher_, controls_,
                   view_,    fences_,        kTestPort};
  RosterNews news_{*runner_,    lanes_,      mirror_, roster_,
                   deliveries_, dispatcher_, view_,   kTestPort};
  ReportDesk report_desk_{*runner_,    workspaces_, roster_, report_store_,
                          deliveries_, dispatcher_, news_,   observations_,
                          clock_,      random_};
  Prober prober_{*runner_, controls_, clock_};
  StatusDesk status_desk_{workspaces_, roster_,    session_store_,
                          mailboxes_,  reports_,   observations_,
                          prober_,     job_store_, handoffs_,
                          run_store_,  clock_};
  ConfigDesk config_desk_{*runner_,  lanes_,  workspaces_,
                          mirror_,   roster_, report_store_,
                          handoffs_, fences_, dispatcher_};
  CoordinatorDesk coordinator_desk_{*runner_, lanes_,       workspaces_,
                                    mirror_,  roster_,      dispatcher_,
                                    news_,    observations_};

 private:
  WorkRig(MailLimits limits, std::unique_ptr<TempDir> store_dir)
      : RoutingRig(limits, OpenAt(*store_dir / "state.db")),
        store_dir_(std::move(store_dir)) {
    mirror_.SetOnEntries([this](const auto& gone, const auto& added) {
      return dispatcher_.OnEntries(gone, added);
    });
    dispatcher_.SetDirectoryOf(
        [this](std::string_view id) { return peers_.DirectoryOf(id); });
    registrar_.SetOnArrival([this](const auto& arrival, Effects& effects) {
      return heirs_.OnArrival(arrival, effects);
    });
    registrar_.AddObserver(controls_);
    registrar_.AddObserver(asks_);
    registrar_.AddObserver(run_teller_);
    registrar_.AddObserver(run_stops_);
    registrar_.AddObserver(news_);
    registrar_.AddObserver(observations_);
    controls_.SetOnResolved([this](const auto&... outcome) {
      observations_.OnControl(outcome...);
    });
  }
  static std::unique_ptr<Database> OpenAt(const std::string& path) {
    auto db = Database::Open(path).value();
    EXPECT_THAT(Migrate(*db, AllMigrations()), IsOk());
    return db;
  }
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_WORK_RIG_H_
