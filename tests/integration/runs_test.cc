// Runs over real connections.

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

// The coordinator c-1 hands work to w-1 "Reviewer" and w-2 "Builder".
class RunsTest : public BrokerFixture {
 protected:
  RunsTest() {
    StartBroker();
    coordinator_ = Attach("c-1");
    ComeBuilder({});
  }
  void ComeBuilder(const std::vector<std::string>& present) {
    builder_ = std::make_unique<AttachClient>(Tcp(), InjectAtOnce);
    v1::Hello hello = HelloOf("w-2");
    hello.add_capabilities("stop");
    EXPECT_TRUE(builder_->SayHello(hello));
    builder_->StartReading();
    builder_->frames.WaitFor(Frame::kReconcile);
    EXPECT_TRUE(builder_->SayPresent(present));
  }

  // Submits, as its agent does, and returns the answer.
  v1::Submitted Submit(AttachClient& client, const v1::Submit& submit,
                       size_t count) {
    v1::AttachRequest frame;
    *frame.mutable_submit() = submit;
    EXPECT_TRUE(client.Write(frame));
    return client.frames.WaitFor(Frame::kSubmitted, count).back().submitted();
  }
  v1::DeliveryRecord Open(const std::string& id, size_t count = 1) {
    v1::Submit submit;
    *submit.mutable_envelope() = Message(id);
    submit.set_to("Builder");
    submit.mutable_run()->set_label("of " + id);
    const v1::Submitted submitted = Submit(*coordinator_, submit, count);
    EXPECT_EQ(submitted.failure().message(), "");
    return submitted.record();
  }
  // The same, injected: the worker is told of its running run.
  v1::DeliveryRecord OpenRunning(const std::string& id) {
    const v1::DeliveryRecord record = Open(id);
    for (size_t told = 1;; ++told) {
      const v1::OpenRuns open =
          builder_->frames.WaitFor(Frame::kOpenRuns, told)[told - 1]
              .open_runs();
      if (open.runs_size() > 0 &&
          open.runs(0).state() == v1::Run::STATE_RUNNING) {
        return record;
      }
    }
  }
  void Say(AttachClient& client, const std::string& delivery_id,
           v1::RunEvent::Event event, const std::string& text, int64_t turns) {
    v1::AttachRequest frame;
    v1::RunEvent& said = *frame.mutable_run_event();
    said.set_delivery_id(delivery_id);
    said.set_event(event);
    said.set_turns(turns);
    said.mutable_result()->set_text(text);
    EXPECT_TRUE(client.Write(frame));
  }
  std::shared_ptr<BrokerClient> As(AttachClient& client) {
    auto calls = Tcp();
    calls->ActAs(client.frames.welcome().session_token());
    return calls;
  }
  struct Waited {
    CallEnd end;
    v1::AwaitRunsResponse response;
  };
  std::future<Waited> BeginAwait(const std::string& run_id) {
    return std::async(std::launch::async, [client = As(*coordinator_), run_id] {
      v1::AwaitRunsRequest request;
      request.add_run_ids(run_id);
      *request.mutable_wait() = ToProtoDuration(absl::Seconds(30));
      Waited waited;
      waited.end = client->Call(*client->runs, &v1::RunService::Stub::AwaitRuns,
                                request, waited.response);
      return waited;
    });
  }
  CallEnd Get(const std::string& run_id, v1::GetRunResponse& response) {
    v1::GetRunRequest request;
    request.set_run_id(run_id);
    const auto client = As(*coordinator_);
    return client->Call(*client->runs, &v1::RunService::Stub::GetRun, request,
                        response);
  }
  CallEnd Stop(const std::string& run_id, v1::StopRunResponse& response) {
    v1::StopRunRequest request;
    request.set_run_id(run_id);
    const auto client = As(*coordinator_);
    return client->Call(*client->runs, &v1::RunService::Stub::StopRun, request,
                        response);
  }
  // Blocks until the coordinator is told that so many runs have settled.
  v1::RunNews WaitForSettled(int count) {
    for (size_t told = 1;; ++told) {
      const auto frames = coordinator_->frames.WaitFor(Frame::kRunNews, told);
      const v1::RunNews& news = frames[told - 1].run_news();
      if (news.settled_size() == count) return news;
    }
  }

  std::unique_ptr<AttachClient> coordinator_, builder_;
};

TEST_F(RunsTest, ARunIsOpenedInjectedSettledAndFetched) {
  const v1::DeliveryRecord record = Open("e-1");
  EXPECT_EQ(record.run_id(), "run-" + std::to_string(record.sequence()));
  const auto delivered = builder_->frames.WaitFor(Frame::kDelivery);
  EXPECT_EQ(delivered[0].delivery().run_id(), record.run_id());
  auto waiting = BeginAwait(record.run_id());

  Say(*builder_, record.delivery_id(), v1::RunEvent::EVENT_PROGRESS, "so", 1);
  Say(*builder_, record.delivery_id(), v1::RunEvent::EVENT_DONE, "so be it", 2);

  const Waited waited = waiting.get();
  ASSERT_TRUE(waited.end.ok()) << waited.end.message;
  ASSERT_THAT(waited.response.settled(), SizeIs(1));
  EXPECT_EQ(waited.response.settled(0).result().text(), "so be it");
  v1::GetRunResponse got;
  ASSERT_TRUE(Get(record.run_id(), got).ok());
  EXPECT_EQ(got.settled().run().state(), v1::Run::STATE_DONE);
  EXPECT_EQ(got.settled().run().turns(), 2);
  EXPECT_EQ(got.settled().run().label(), "of e-1");
}

TEST_F(RunsTest, AQuestionOfTheWorkerEndsTheWaitAndIsAnswered) {
  const v1::DeliveryRecord record = Open("e-1");
  builder_->frames.WaitFor(Frame::kDelivery);
  auto waiting = BeginAwait(record.run_id());
  v1::Submit ask;
  *ask.mutable_envelope() = Message("a-1");
  ask.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_ASK);
  ask.set_to("Coordinator");
  EXPECT_EQ(Submit(*builder_, ask, 1).failure().reason(), "");
  const Waited waited = waiting.get();
  ASSERT_TRUE(waited.end.ok()) << waited.end.message;
  EXPECT_EQ(waited.response.ask().delivery_id(), "w-2/a-1");
  EXPECT_THAT(waited.response.open(), SizeIs(1));
}

TEST_F(RunsTest, TwoStopsSettleARunWhateverItsHostSays) {
  const v1::DeliveryRecord record = OpenRunning("e-1");
  v1::StopRunResponse stopped;
  auto first = std::async(std::launch::async,
                          [&] { return Stop(record.run_id(), stopped); });
  const auto controls = builder_->frames.WaitFor(Frame::kControl);
  EXPECT_EQ(controls[0].control().kind(), v1::Control::KIND_STOP);
  v1::AttachRequest answer;
  answer.mutable_control_result()->set_control_id(
      controls[0].control().control_id());
  answer.mutable_control_result()->set_ok(true);
  EXPECT_TRUE(builder_->Write(answer));
  ASSERT_TRUE(first.get().ok());
  EXPECT_EQ(stopped.run().state(), v1::Run::STATE_RUNNING);

  v1::AttachRequest failed;
  failed.mutable_job_event()->set_job_id(record.run_id());
  failed.mutable_job_event()->set_event(v1::JobEvent::EVENT_STOP_FAILED);
  EXPECT_TRUE(builder_->Write(failed));
  for (size_t came = 1;; ++came) {
    const auto frames = coordinator_->frames.WaitFor(Frame::kDelivery, came);
    if (frames[came - 1].delivery().envelope().topic() == "STOP") break;
  }
  v1::StopRunResponse forced;
  ASSERT_TRUE(Stop(record.run_id(), forced).ok());
  EXPECT_TRUE(forced.forced());
  EXPECT_EQ(forced.run().state(), v1::Run::STATE_STOPPED);
  EXPECT_THAT(
      Stop(record.run_id(), forced),
      EndsWithReason(grpc::StatusCode::FAILED_PRECONDITION, "RUN_SETTLED"));
}

TEST_F(RunsTest, NotesWaitInTheInboxAndFellowsWriteToEachOther) {
  Open("e-1");
  builder_->frames.WaitFor(Frame::kDelivery);
  const auto worker = As(*builder_);
  v1::AddNoteRequest note;
  note.set_note_id("note-1");
  note.set_text("half way");
  v1::AddNoteResponse added;
  ASSERT_TRUE(
      worker->Call(*worker->runs, &v1::RunService::Stub::AddNote, note, added)
          .ok());
  const auto supervisor = As(*coordinator_);
  v1::DrainInboxRequest drain;
  drain.set_drain_id("drain-1");
  v1::DrainInboxResponse drained;
  ASSERT_TRUE(supervisor
                  ->Call(*supervisor->runs, &v1::RunService::Stub::DrainInbox,
                         drain, drained)
                  .ok());
  ASSERT_THAT(drained.notes(), SizeIs(1));
  EXPECT_EQ(drained.notes(0).text(), "half way");

  const auto reviewer = Attach("w-1", InjectAtOnce);
  v1::Submit other;
  *other.mutable_envelope() = Message("e-2");
  other.set_to("Reviewer");
  other.mutable_run();
  EXPECT_EQ(Submit(*coordinator_, other, 2).failure().reason(), "");
  v1::Submit fellow;
  *fellow.mutable_envelope() = Message("f-1");
  fellow.set_to("Reviewer");
  fellow.set_to_fellow(true);
  EXPECT_EQ(Submit(*builder_, fellow, 1).record().recipient_session_id(),
            "w-1");
}

TEST_F(RunsTest, ARestartOfTheBrokerKeepsRunsAndTellsTheirEndOnce) {
  const v1::DeliveryRecord record = Open("e-1");
  builder_->frames.WaitFor(Frame::kDelivery);
  Say(*builder_, record.delivery_id(), v1::RunEvent::EVENT_PROGRESS, "half", 1);
  // In order behind what was said: now it is stored.
  v1::Submit marker;
  *marker.mutable_envelope() = Message("m-1");
  marker.set_to("Coordinator");
  Submit(*builder_, marker, 1);

  RestartBroker();
  coordinator_ = Attach("c-1");
  ComeBuilder({record.delivery_id()});
  const auto open = builder_->frames.WaitFor(Frame::kOpenRuns);
  ASSERT_THAT(open.back().open_runs().runs(), SizeIs(1));
  EXPECT_EQ(open.back().open_runs().runs(0).turns(), 1);
  Say(*builder_, record.delivery_id(), v1::RunEvent::EVENT_DONE, "whole", 2);
  EXPECT_EQ(WaitForSettled(1).settled(0).result().text(), "whole");
  v1::AttachRequest told;
  told.mutable_runs_told()->add_announced(record.run_id());
  EXPECT_TRUE(coordinator_->Write(told));
  WaitForSettled(0);

  RestartBroker();
  coordinator_ = Attach("c-1");
  const auto news = coordinator_->frames.WaitFor(Frame::kRunNews);
  EXPECT_THAT(news[0].run_news().settled(), IsEmpty());
  EXPECT_TRUE(news[0].run_news().supervises());
  v1::GetRunResponse got;
  ASSERT_TRUE(Get(record.run_id(), got).ok());
  EXPECT_EQ(got.settled().result().text(), "whole");
  EXPECT_TRUE(got.settled().run().announced());
}

}  // namespace
}  // namespace intercom
