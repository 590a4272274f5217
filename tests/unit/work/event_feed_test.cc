// What of the rooms becomes an event, over the wire's eyes: a watch.
#include "broker/work/event_feed.h"

#include "tests/support/watch_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class EventFeedTest : public WatchRig {
 protected:
  static std::vector<v1::DeliveryState> StatesIn(
      const std::vector<v1::WatchEventsResponse>& events,
      const std::string& delivery_id) {
    std::vector<v1::DeliveryState> states;
    for (const v1::DeliveryChange& change : ChangesOf(events, delivery_id)) {
      states.push_back(change.delivery().state());
    }
    return states;
  }
  static std::vector<v1::DeliveryChange> ChangesOf(
      const std::vector<v1::WatchEventsResponse>& events,
      const std::string& delivery_id) {
    std::vector<v1::DeliveryChange> changes;
    for (const auto& event : events) {
      if (event.has_delivery() &&
          event.delivery().delivery().delivery_id() == delivery_id) {
        changes.push_back(event.delivery());
      }
    }
    return changes;
  }
  static std::vector<v1::SessionChange::Kind> KindsOf(
      const std::vector<v1::WatchEventsResponse>& events,
      const std::string& session_id) {
    std::vector<v1::SessionChange::Kind> kinds;
    for (const auto& event : events) {
      if (event.has_session() && event.session().session_id() == session_id) {
        kinds.push_back(event.session().kind());
      }
    }
    return kinds;
  }
};

TEST_F(EventFeedTest, EachStepOfADeliveryIsAnEventWithItsLatency) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  Events events = WatchEvents();

  const auto sent = Send(CallOf(coordinator), "Builder", Message("m-1"));
  ASSERT_THAT(sent, IsOk());
  const std::string id = sent->delivery_id();
  clock_.Advance(absl::Milliseconds(40));
  SayReceipt(builder, id, v1::Receipt::EVENT_DELIVERED);
  clock_.Advance(absl::Milliseconds(60));
  SayReceipt(builder, id, v1::Receipt::EVENT_INJECTED);
  SayReceipt(builder, id, v1::Receipt::EVENT_SEEN);
  // A repeat changes nothing.
  SayReceipt(builder, id, v1::Receipt::EVENT_SEEN);
  v1::Envelope answer = Message("m-2");
  answer.set_reply_to("c-1/m-1");
  ASSERT_THAT(Send(CallOf(builder), "Coordinator", answer), IsOk());

  const auto told = events.TakeAll();
  EXPECT_THAT(
      StatesIn(told, id),
      ElementsAre(v1::DELIVERY_STATE_ACCEPTED, v1::DELIVERY_STATE_DELIVERED,
                  v1::DELIVERY_STATE_INJECTED, v1::DELIVERY_STATE_SEEN,
                  v1::DELIVERY_STATE_REPLIED));
  const auto changes = ChangesOf(told, id);
  EXPECT_EQ(FromProtoDuration(changes[1].latency()), absl::Milliseconds(40));
  EXPECT_EQ(FromProtoDuration(changes[2].latency()), absl::Milliseconds(100));
  for (const v1::DeliveryChange& change : changes) {
    EXPECT_EQ(change.delivery().kind(), v1::ENVELOPE_KIND_MESSAGE);
    EXPECT_EQ(change.delivery().sender().session_id(), "c-1");
    EXPECT_EQ(change.delivery().recipient_session_id(), "w-1");
    EXPECT_EQ(change.delivery().recipient_name(), "Builder");
    EXPECT_EQ(change.delivery().text_bytes(), 11);
  }
  EXPECT_EQ(told.front().workspace_root(), root_);
  EXPECT_EQ(CounterOf("envelopes_accepted", "kind=message"), 2);
  EXPECT_EQ(CounterOf("deliveries_reached", "state=seen"), 1);
  EXPECT_EQ(CounterOf("deliveries_reached", "state=replied"), 1);
}

TEST_F(EventFeedTest, AStateCountsThoseThatItImplies) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  const auto sent = Send(CallOf(coordinator), "Builder", Message("m-1"));
  SayReceipt(builder, sent->delivery_id(), v1::Receipt::EVENT_SEEN);
  EXPECT_EQ(CounterOf("deliveries_reached", "state=delivered"), 1);
  EXPECT_EQ(CounterOf("deliveries_reached", "state=injected"), 1);
  EXPECT_EQ(CounterOf("deliveries_reached", "state=seen"), 1);
}

TEST_F(EventFeedTest, WhatWasNotCommittedIsNotTold) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  const auto sent = Send(CallOf(coordinator), "Builder", Message("m-1"));
  Events events = WatchEvents();

  InFailingBatch([&] {
    v1::Receipt receipt;
    receipt.set_delivery_id(sent->delivery_id());
    receipt.set_event(v1::Receipt::EVENT_DELIVERED);
    dispatcher_.OnReceipt(builder.key, receipt);
  });

  EXPECT_THAT(events.TakeAll(), IsEmpty());
  EXPECT_EQ(CounterOf("deliveries_reached", "state=delivered"), 0);
}

TEST_F(EventFeedTest, ARefusedEnvelopeIsCountedByItsReasonAndNoEvent) {
  const TestSession coordinator = Join("c-1");
  Events events = WatchEvents();

  EXPECT_THAT(Send(CallOf(coordinator), "Nobody", Message("m-1")), Not(IsOk()));
  v1::Envelope empty = Message("m-2");
  empty.clear_text();
  EXPECT_THAT(Send(CallOf(coordinator), "Builder", empty), Not(IsOk()));

  EXPECT_THAT(events.TakeAll(), IsEmpty());
  EXPECT_EQ(CounterOf("envelopes_refused", "reason=UNKNOWN_RECIPIENT"), 1);
  const auto metrics = OnState([&] { return metrics_.Describe(); });
  int64_t refused = 0;
  for (const v1::Counter& counter : metrics.counters()) {
    if (counter.name() == "envelopes_refused") refused += counter.value();
  }
  EXPECT_EQ(refused, 2);
}

TEST_F(EventFeedTest, AnEndAndAWaitAreEvents) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  const auto held = Send(CallOf(coordinator), "Builder", Message("m-1"));
  const auto waiting = Send(CallOf(coordinator), "Tester", Message("m-2"));
  Events events = WatchEvents();

  clock_.Advance(absl::Seconds(3));
  SayReceipt(builder, held->delivery_id(), v1::Receipt::EVENT_HELD, "",
             v1::WAIT_REASON_BUSY);
  const absl::Time held_at = clock_.Now();
  SayReceipt(builder, held->delivery_id(), v1::Receipt::EVENT_HELD, "",
             v1::WAIT_REASON_BUSY);
  Withdraw(waiting->delivery_id());
  Sync();

  const auto told = events.TakeAll();
  const auto holds = ChangesOf(told, held->delivery_id());
  ASSERT_THAT(holds, SizeIs(1));
  EXPECT_EQ(holds[0].delivery().wait_reason(), v1::WAIT_REASON_BUSY);
  EXPECT_EQ(FromProto(holds[0].delivery().waiting_since()), held_at);
  const auto ends = ChangesOf(told, waiting->delivery_id());
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].delivery().end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_EQ(ends[0].delivery().wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
  EXPECT_FALSE(ends[0].delivery().has_waiting_since());
  EXPECT_EQ(CounterOf("deliveries_ended", "end=cancelled"), 1);
}

TEST_F(EventFeedTest, MailToOneWhoIsAwaySaysWhyItWaits) {
  const TestSession coordinator = Join("c-1");
  Events events = WatchEvents();
  const auto sent = Send(CallOf(coordinator), "Builder", Message("m-1"));
  const auto changes = ChangesOf(events.TakeAll(), sent->delivery_id());
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].delivery().wait_reason(), v1::WAIT_REASON_AWAY);
  EXPECT_TRUE(changes[0].delivery().has_waiting_since());
}

TEST_F(EventFeedTest, ComingsAndGoingsAreEvents) {
  Events events = WatchEvents();
  const TestSession builder = Join("w-1");
  SayActivity(builder, v1::ACTIVITY_PHASE_TOOL, "Running command");
  SayActivity(builder, v1::ACTIVITY_PHASE_TOOL, "Running command");
  Detach(builder, v1::Goodbye::REASON_RELOAD);
  Detach(Join("w-1"));

  const auto told = events.TakeAll();
  EXPECT_THAT(KindsOf(told, "w-1"),
              ElementsAre(v1::SessionChange::KIND_ATTACHED,
                          v1::SessionChange::KIND_ACTIVITY,
                          v1::SessionChange::KIND_RESTARTING,
                          v1::SessionChange::KIND_ATTACHED,
                          v1::SessionChange::KIND_DETACHED));
  EXPECT_EQ(CounterOf("sessions_attached"), 2);
  EXPECT_EQ(CounterOf("sessions_detached"), 2);
}

TEST_F(EventFeedTest, ARoleAndANameThatChangeAreEvents) {
  const TestSession stranger = Join("x-1");
  Events events = WatchEvents();
  registrar_.Rename(stranger.key, "Rover");
  Sync();
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}, {"x-1", "Newcomer"}}));
  ASSERT_THAT(ReadConfigNow(), IsOk());

  const auto told = events.TakeAll();
  EXPECT_THAT(
      KindsOf(told, "x-1"),
      ElementsAre(v1::SessionChange::KIND_RENAMED, v1::SessionChange::KIND_ROLE,
                  v1::SessionChange::KIND_RENAMED));
  EXPECT_EQ(told.front().session().name(), "Rover");
  EXPECT_EQ(told.back().session().name(), "Newcomer");
  EXPECT_EQ(told.back().session().role(), v1::ROLE_WORKER);
}

TEST_F(EventFeedTest, AsksAndTheirAnswersAreEvents) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  Events events = WatchEvents();
  const auto ask = Send(CallOf(coordinator), "Builder", Question("q-1"));
  ASSERT_THAT(ask, IsOk());
  SayReceipt(builder, ask->delivery_id(), v1::Receipt::EVENT_INJECTED);
  clock_.Advance(absl::Seconds(2));
  v1::Envelope reply = Message("r-1");
  reply.set_kind(v1::ENVELOPE_KIND_REPLY);
  reply.set_reply_to("c-1/q-1");
  ASSERT_THAT(Send(CallOf(builder), "", reply), IsOk());

  std::vector<v1::Ask::State> states;
  for (const auto& event : events.TakeAll()) {
    if (!event.has_ask()) continue;
    states.push_back(event.ask().state());
    EXPECT_EQ(event.ask().delivery_id(), ask->delivery_id());
    EXPECT_EQ(event.ask().asker().session_id(), "c-1");
    EXPECT_EQ(event.ask().recipient_name(), "Builder");
    EXPECT_EQ(event.workspace_root(), root_);
  }
  EXPECT_THAT(states,
              ElementsAre(v1::Ask::STATE_OPEN, v1::Ask::STATE_ANSWERED));
  EXPECT_EQ(CounterOf("asks_reached", "state=answered"), 1);
  const auto metrics = OnState([&] { return metrics_.Describe(); });
  EXPECT_EQ(metrics.latencies().rbegin()->name(), "ask_to_reply");
  EXPECT_EQ(FromProtoDuration(metrics.latencies().rbegin()->sum()),
            absl::Seconds(2));
}

TEST_F(EventFeedTest, RunsAndJobsCountOnceForEachState) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  Events events = WatchEvents();
  const std::string id = OpenRun(coordinator, "m-1");
  SayReceipt(builder, id, v1::Receipt::EVENT_INJECTED);
  v1::RunEvent done;
  done.set_delivery_id(id);
  done.set_event(v1::RunEvent::EVENT_DONE);
  run_desk_.OnEvent(builder.key, done);
  Sync();
  JobRow job;
  job.job_id = "j-1";
  job.kind = v1::Job::KIND_CLOSE;
  job.root = root_;
  job.session_id = "w-1";
  job.detail = "a secret detail";
  for (const v1::Job::State state :
       {v1::Job::STATE_REQUESTED, v1::Job::STATE_REQUESTED,
        v1::Job::STATE_FAILED}) {
    job.state = state;
    runner_->PostCommand(
        {[&, job](Effects& effects) { return jobs_.Put(job, effects); },
         nullptr});
  }
  Sync();

  const auto told = events.TakeAll();
  std::vector<v1::Run::State> runs;
  std::vector<v1::Job::State> jobs;
  for (const auto& event : told) {
    if (event.has_run()) runs.push_back(event.run().state());
    if (event.has_job()) jobs.push_back(event.job().state());
    EXPECT_THAT(event.SerializeAsString(), Not(HasSubstr("secret")));
  }
  EXPECT_THAT(runs, ElementsAre(v1::Run::STATE_WAITING, v1::Run::STATE_RUNNING,
                                v1::Run::STATE_DONE));
  EXPECT_THAT(jobs, SizeIs(3));
  EXPECT_EQ(CounterOf("runs_reached", "state=done"), 1);
  EXPECT_EQ(CounterOf("jobs_reached", "kind=close,state=requested"), 1);
  EXPECT_EQ(CounterOf("jobs_reached", "kind=close,state=failed"), 1);
  // The envelope that opened it says so.
  const auto changes = ChangesOf(told, id);
  ASSERT_FALSE(changes.empty());
  EXPECT_THAT(changes[0].delivery().run_id(), HasSubstr("run-"));
}

TEST_F(EventFeedTest, NoEventHasAnyText) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  Events events = WatchEvents();
  v1::Envelope envelope = Message("m-1", "the secret plan");
  v1::MessageAttachment& attached = *envelope.add_attachments();
  attached.set_type(v1::MessageAttachment::TYPE_CONTEXT);
  attached.set_name("secret.txt");
  attached.set_content("secret content");
  ASSERT_THAT(Send(CallOf(coordinator), "Builder", envelope), IsOk());
  v1::Envelope question = Question("q-1");
  question.set_text("a secret question");
  ASSERT_THAT(Send(CallOf(coordinator), "Builder", question), IsOk());
  registrar_.SetLoaded(builder.key, "hash");
  Sync();
  ASSERT_THAT(ReportWork(builder, v1::Report::STATUS_BLOCKED, "a secret"),
              IsOk());

  const auto told = events.TakeAll();
  bool reported = false;
  for (const auto& event : told) {
    EXPECT_THAT(event.SerializeAsString(), Not(HasSubstr("secret")));
    if (!event.has_report()) continue;
    reported = true;
    EXPECT_EQ(event.report().status(), v1::Report::STATUS_BLOCKED);
    EXPECT_EQ(event.report().name(), "Builder");
  }
  EXPECT_TRUE(reported);
}

TEST_F(EventFeedTest, OfMailOfAnEarlierBrokerItKnowsWhatIsOffered) {
  const TestSession coordinator = Join("c-1");
  const auto sent = Send(CallOf(coordinator), "Builder", Message("m-1"));
  ASSERT_THAT(sent, IsOk());
  clock_.Advance(absl::Seconds(5));
  // A broker that has accepted nothing.
  EventLog log("next");
  Metrics metrics(clock_);
  EventFeed feed(log, metrics, roster_, mirror_, runs_, fences_, clock_, [] {});
  dispatcher_.SetWatchers(
      {[&](const DeliveryNews& news) { feed.OnDelivery(news); },
       [&](const v1::DeliveryRecord& record) { feed.OnOffered(record); }});

  const TestSession builder = Join("w-1");
  SayReceipt(builder, sent->delivery_id(), v1::Receipt::EVENT_DELIVERED);
  dispatcher_.SetWatchers({});

  const auto found = log.After(0, "", 1, [] {});
  ASSERT_THAT(found, IsOk());
  ASSERT_NE(found->event, nullptr);
  const v1::DeliveryChange& change = found->event->delivery();
  EXPECT_EQ(change.delivery().recipient_name(), "Builder");
  EXPECT_EQ(change.delivery().state(), v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(FromProtoDuration(change.latency()), absl::Seconds(5));
}

TEST_F(EventFeedTest, OfMailThatItDoesNotKnowItSaysWhatTheChangeSays) {
  EventLog log("next");
  Metrics metrics(clock_);
  EventFeed feed(log, metrics, roster_, mirror_, runs_, fences_, clock_, [] {});
  DeliveryNews news;
  news.delivery_id = "c-1/m-1";
  news.before.state = v1::DELIVERY_STATE_INJECTED;
  news.after.state = v1::DELIVERY_STATE_SEEN;
  news.after.sequence = 7;
  news.after.recipient_session_id = "w-1";
  OnState([&] {
    feed.OnDelivery(news);
    return true;
  });

  const auto found = log.After(0, "", 1, [] {});
  ASSERT_THAT(found, IsOk());
  const v1::DeliverySummary& told = found->event->delivery().delivery();
  EXPECT_EQ(told.delivery_id(), "c-1/m-1");
  EXPECT_EQ(told.sender().session_id(), "c-1");
  EXPECT_EQ(told.recipient_session_id(), "w-1");
  EXPECT_EQ(told.state(), v1::DELIVERY_STATE_SEEN);
}

}  // namespace
}  // namespace intercom
