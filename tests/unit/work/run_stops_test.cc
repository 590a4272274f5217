#include "broker/work/run_stops.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/run_rig.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunStopsTest : public RunRig {
 protected:
  // A run with limits, in the session of w-1.
  std::string OpenLimited(const std::string& id, absl::Duration idle,
                          absl::Duration after) {
    v1::SendRequest request = Opening("Builder", id);
    v1::RunRequest& run = *request.mutable_run();
    if (idle > absl::ZeroDuration()) {
      *run.mutable_stop_when_idle() = ToProtoDuration(idle);
    }
    if (after > absl::ZeroDuration()) {
      *run.mutable_stop_after() = ToProtoDuration(after);
    }
    const auto record = Send(coordinator_, request);
    EXPECT_THAT(record, IsOk());
    run_id_ = record->run_id();
    SayReceipt(worker_, record->delivery_id(), v1::Receipt::EVENT_INJECTED);
    return record->delivery_id();
  }
  void SayJob(const TestSession& session, v1::JobEvent::Event event,
              const std::string& detail) {
    v1::JobEvent said;
    said.set_job_id(run_id_);
    said.set_event(event);
    said.set_detail(detail);
    run_stops_.OnEvent(session.key, said);
    Sync();
  }
  // The host process of a session's last attachment.
  int64_t HostOf(const std::string& session_id) {
    return OnState(
        [&] { return session_store_.Find(session_id).value()->host_pid; });
  }
  // The agent and the host of a worker end.
  void Kill(const TestSession& session) {
    const int64_t pid =
        OnState([&] { return roster_.Find(session.key.session_id)->host_pid; });
    processes_.End(pid);
    Detach(session);
  }
};

TEST_F(RunStopsTest, TheFirstStopCancelsAndTheHostsWordSettles) {
  const std::string id = OpenRunning("e-1");
  const StopAnswer answer = PostStop(run_id_);
  ASSERT_THAT(StopsOf(worker_), SizeIs(1));
  EXPECT_EQ(StopsOf(worker_)[0].job_id(), run_id_);
  AnswerStop(worker_);
  const auto stopped = answer.Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_FALSE(stopped->forced());
  EXPECT_EQ(stopped->run().state(), v1::Run::STATE_RUNNING);
  EXPECT_TRUE(stopped->run().stop_requested());
  EXPECT_EQ(stopped->run().detail(), "");

  Say(worker_, Event(id, v1::RunEvent::EVENT_STOPPED, "so far"));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_STOPPED);
  EXPECT_EQ(ReasonFor(id), "cancelled");
  EXPECT_EQ(TextOf(id), "so far");
}

TEST_F(RunStopsTest, ASecondStopCancelsAgainAndSettlesOnce) {
  const std::string id = OpenRunning("e-1");
  PostStop(run_id_);
  const auto forced = PostStop(run_id_).Wait();
  ASSERT_THAT(forced, IsOk());
  EXPECT_TRUE(forced->forced());
  EXPECT_EQ(forced->run().state(), v1::Run::STATE_STOPPED);
  EXPECT_EQ(forced->run().reason(), "forced");
  EXPECT_THAT(StopsOf(worker_), SizeIs(2));
  EXPECT_THAT(PostStop(run_id_).Wait(),
              FailsWith(StatusCode::kFailedPrecondition, "RUN_SETTLED"));

  // The natural end comes too late.
  SayDone(id, "after all");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_STOPPED);
  EXPECT_EQ(TextOf(id), "");
}

TEST_F(RunStopsTest, AnEnvelopeThatIsNotThereYetIsWithdrawn) {
  Detach(worker_);
  const std::string id = Open("Builder", "e-1");
  const auto stopped = PostStop(run_id_).Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(stopped->run().state(), v1::Run::STATE_STOPPED);
  EXPECT_EQ(stopped->run().reason(), "cancelled");
  EXPECT_FALSE(stopped->forced());
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_CANCELLED);
}

TEST_F(RunStopsTest, AMessageThatMayBeThereLeavesItsStoppedRunOpen) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  const auto stopped = PostStop(run_id_).Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(stopped->run().state(), v1::Run::STATE_WAITING);
  EXPECT_TRUE(stopped->run().stop_requested());
  EXPECT_THAT(stopped->run().detail(), HasSubstr("may have it"));
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_CANCELLED);
  const auto listed = List(coordinator_);
  ASSERT_THAT(listed, IsOk());
  ASSERT_THAT(listed->runs(), SizeIs(1));
  EXPECT_THAT(listed->runs(0).detail(), HasSubstr("may have it"));
}

TEST_F(RunStopsTest, AWithdrawnMessageThatIsThereAfterAllIsCancelled) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  PostStop(run_id_);
  worker_ = JoinAs(WorkerHello("w-1"), {id});
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_EQ(RowOf(id).detail, "");
  EXPECT_THAT(StopsOf(worker_), SizeIs(1));
  Say(worker_, Event(id, v1::RunEvent::EVENT_STOPPED));
  EXPECT_EQ(ReasonFor(id), "cancelled");
}

TEST_F(RunStopsTest, AWithdrawnMessageIsAskedBackFromAHostThatMayHoldIt) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  PostStop(run_id_);
  worker_ = JoinWorker("w-1");
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
  ASSERT_THAT(worker_.link->Of(v1::AttachResponse::kWithdraw), SizeIs(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  SayReceipt(worker_, id, v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_STOPPED);
  EXPECT_EQ(ReasonFor(id), "cancelled");
}

TEST_F(RunStopsTest, AHeldMessageThatCanNotBeHadBackIsCancelled) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  PostStop(run_id_);
  worker_ = JoinWorker("w-1");
  SayReceipt(worker_, id, v1::Receipt::EVENT_TOO_LATE);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  SayReceipt(worker_, id, v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_THAT(StopsOf(worker_), SizeIs(1));
}

TEST_F(RunStopsTest, ASecondStopSettlesARunWhoseMessageMayBeThere) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  PostStop(run_id_);
  const auto forced = PostStop(run_id_).Wait();
  ASSERT_THAT(forced, IsOk());
  EXPECT_TRUE(forced->forced());
  EXPECT_THAT(forced->run().detail(), HasSubstr("may go on"));
  EXPECT_EQ(ReasonFor(id), "forced");
}

TEST_F(RunStopsTest, ALateMessageThatMayBeThereFailsItsRunOnceTheHostIsGone) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  Pass(absl::Minutes(5));
  Pass(absl::Minutes(5));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_EQ(NewsOf(coordinator_).settled_size(), 0);
  processes_.End(HostOf("w-1"));
  Pass(absl::Seconds(1));
  Pass(absl::Seconds(5));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(id), "not_started");
}

TEST_F(RunStopsTest, ALateMessageThatIsThereAfterAllRuns) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  Pass(absl::Minutes(5));
  worker_ = JoinAs(WorkerHello("w-1"), {id});
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_EQ(ReasonFor(id), "");
  SayDone(id, "after all");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
}

TEST_F(RunStopsTest, OneThatComesTooLateToBeWithdrawnIsCancelled) {
  const std::string id = Open("Builder", "e-1");
  const StopAnswer answer = PostStop(run_id_);
  EXPECT_THAT(worker_.link->Of(v1::AttachResponse::kWithdraw), SizeIs(1));
  SayReceipt(worker_, id, v1::Receipt::EVENT_TOO_LATE);
  EXPECT_THAT(StopsOf(worker_), SizeIs(1));
  AnswerStop(worker_);
  EXPECT_THAT(answer.Wait(), IsOk());
  SayReceipt(worker_, id, v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_TRUE(RowOf(id).stop_requested_at.has_value());
}

TEST_F(RunStopsTest, AHostThatSaysNothingIsAwaitedForEightSeconds) {
  OpenRunning("e-1");
  const StopAnswer answer = PostStop(run_id_);
  Pass(absl::Seconds(4));
  EXPECT_EQ(answer.count(), 0);
  Pass(absl::Seconds(4));
  const auto stopped = answer.Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(stopped->run().state(), v1::Run::STATE_RUNNING);
  EXPECT_THAT(stopped->run().detail(), HasSubstr("stop it once more"));
}

TEST_F(RunStopsTest, AHostThatIsNotKnownToStopIsLeftAlone) {
  Detach(worker_);
  worker_ = Join("w-1");
  const std::string id = OpenRunning("e-1");
  EXPECT_THAT(PostStop(run_id_).Wait(),
              FailsWith(StatusCode::kFailedPrecondition, "HOST_NOT_VERIFIED"));
  EXPECT_FALSE(RowOf(id).stop_requested_at.has_value());
  EXPECT_THAT(StopsOf(worker_), IsEmpty());
}

TEST_F(RunStopsTest, AWorkerThatIsAwayIsToldWhenItIsBack) {
  const std::string id = OpenRunning("e-1");
  Detach(worker_);
  const auto stopped = PostStop(run_id_).Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(stopped->run().state(), v1::Run::STATE_RUNNING);
  EXPECT_THAT(stopped->run().detail(), HasSubstr("away"));
  const TestSession back = JoinAs(WorkerHello("w-1"), {id});
  EXPECT_THAT(StopsOf(back), SizeIs(1));
}

TEST_F(RunStopsTest, ARunThatDoesNotStartInFiveMinutesIsWithdrawnAndFails) {
  Detach(worker_);
  const std::string id = Open("Builder", "e-1");
  Pass(absl::Minutes(5) - absl::Seconds(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  Pass(absl::Seconds(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(id), "not_started");
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_CANCELLED);
}

TEST_F(RunStopsTest, OneThatStartsInThatMomentRunsAfterAll) {
  const std::string id = Open("Builder", "e-1");
  Pass(absl::Minutes(5));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  SayReceipt(worker_, id, v1::Receipt::EVENT_TOO_LATE);
  SayReceipt(worker_, id, v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  Say(worker_, Event(id, v1::RunEvent::EVENT_STOPPED));
  EXPECT_EQ(ReasonFor(id), "cancelled");
}

TEST_F(RunStopsTest, AnIdleRunIsStoppedOnlyWhereThatWasAsked) {
  const std::string patient = OpenRunning("e-1");
  const std::string id =
      OpenLimited("e-2", absl::Seconds(60), absl::ZeroDuration());
  Pass(absl::Seconds(59));
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "a word"));
  Pass(absl::Seconds(59));
  EXPECT_THAT(StopsOf(worker_), IsEmpty());
  Pass(absl::Seconds(1));
  ASSERT_THAT(StopsOf(worker_), SizeIs(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  Pass(absl::Seconds(30));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_STOPPED);
  EXPECT_EQ(ReasonFor(id), "idle");
  EXPECT_EQ(TextOf(id), "a word");
  EXPECT_EQ(StateOf(patient), v1::Run::STATE_RUNNING);
}

TEST_F(RunStopsTest, ARunOverItsTimeIsStoppedAndSaysWhy) {
  const std::string id =
      OpenLimited("e-1", absl::ZeroDuration(), absl::Seconds(10));
  Pass(absl::Seconds(10));
  ASSERT_THAT(StopsOf(worker_), SizeIs(1));
  Say(worker_, Event(id, v1::RunEvent::EVENT_STOPPED));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_STOPPED);
  EXPECT_EQ(ReasonFor(id), "time_over");
}

TEST_F(RunStopsTest, AWorkerWhoseHostEndedFailsItsRunsWithWhatIsKnown) {
  const std::string id = OpenRunning("e-1");
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "half of it", 1));
  Pass(absl::Seconds(20));
  Kill(worker_);
  Pass(absl::Seconds(1));
  Pass(absl::Seconds(4));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  Pass(absl::Seconds(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(id), "worker_gone");
  EXPECT_EQ(TextOf(id), "half of it");
}

TEST_F(RunStopsTest, AWorkerThatIsBackInTimeSpeaksForItself) {
  const std::string id = OpenRunning("e-1");
  Pass(absl::Seconds(20));
  Kill(worker_);
  Pass(absl::Seconds(1));
  Pass(absl::Seconds(4));
  worker_ = JoinAs(WorkerHello("w-1"), {id});
  Pass(absl::Seconds(60));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  Say(worker_, Event(id, v1::RunEvent::EVENT_INTERRUPTED, "half"));
  EXPECT_EQ(ReasonFor(id), "interrupted");
}

TEST_F(RunStopsTest, AWorkerWhoseHostLivesIsNeverGone) {
  const std::string id = OpenRunning("e-1");
  Detach(worker_);
  Pass(absl::Hours(1));
  Pass(absl::Hours(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunStopsTest, AHostThatWentOnWithAnotherSessionHasLeftTheRun) {
  const std::string id = OpenRunning("e-1");
  const int64_t pid = OnState([&] { return roster_.Find("w-1")->host_pid; });
  Detach(worker_);
  JoinAs(WorkerHello("w-new", pid));
  Pass(absl::Seconds(20));
  Pass(absl::Seconds(5));
  EXPECT_EQ(ReasonFor(id), "worker_gone");
}

TEST_F(RunStopsTest, AfterAStartWorkersHaveFifteenSecondsToComeBack) {
  const std::string id = OpenRunning("e-1");
  Kill(worker_);
  RunWatch fresh(*runner_, roster_, session_store_, runs_, run_store_,
                 run_stops_, run_teller_, dispatcher_, watch_, clock_);
  const auto pass = [&](absl::Duration by) {
    clock_.Advance(by);
    runner_->PostTask([&] { fresh.Tick(); });
    Sync();
  };
  pass(absl::Seconds(1));
  pass(absl::Seconds(13));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  pass(absl::Seconds(1));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
}

TEST_F(RunStopsTest, ARepeatOfTheFirstStopIsNoSecondOne) {
  const std::string id = OpenRunning("e-1");
  PostStop(run_id_, "call-1");
  const StopAnswer repeat = PostStop(run_id_, "call-1");
  AnswerStop(worker_);
  const auto stopped = repeat.Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_FALSE(stopped->forced());
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_TRUE(PostStop(run_id_, "call-2").Wait()->forced());
}

TEST_F(RunStopsTest, AStopThatAnEarlierBrokerHeardIsTheFirst) {
  const std::string id = OpenRunning("e-1");
  PostStop(run_id_, "call-1");
  RunStops fresh(*runner_, workspaces_, roster_, runs_, run_store_, run_desk_,
                 fences_, controls_, dispatcher_, clock_);
  v1::StopRunRequest request;
  request.set_run_id(run_id_);
  request.set_request_id("call-1");
  StopAnswer again;
  fresh.StopRun(CallOf(coordinator_), request, again.Callback());
  AnswerStop(worker_);
  EXPECT_FALSE(again.Wait()->forced());
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  request.set_request_id("call-2");
  StopAnswer second;
  fresh.StopRun(CallOf(coordinator_), request, second.Callback());
  EXPECT_TRUE(second.Wait()->forced());
  runner_->Stop();
}

TEST_F(RunStopsTest, ASecondStopSettlesThoughAnotherBrokerHeardTheFirst) {
  OpenRunning("e-1");
  PostStop(run_id_, "call-1");
  RunStops fresh(*runner_, workspaces_, roster_, runs_, run_store_, run_desk_,
                 fences_, controls_, dispatcher_, clock_);
  v1::StopRunRequest request;
  request.set_run_id(run_id_);
  request.set_request_id("call-2");
  StopAnswer second;
  fresh.StopRun(CallOf(coordinator_), request, second.Callback());
  EXPECT_TRUE(second.Wait()->forced());
  runner_->Stop();
}

TEST_F(RunStopsTest, AStopOfTheBrokersOwnIsNotTheSupervisorsFirst) {
  const std::string id =
      OpenLimited("e-1", absl::ZeroDuration(), absl::Seconds(10));
  Pass(absl::Seconds(10));
  const StopAnswer answer = PostStop(run_id_);
  AnswerStop(worker_);
  EXPECT_FALSE(answer.Wait()->forced());
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunStopsTest, AStopNamesWhatElseEndsAtItsWorker) {
  OpenRunning("e-1");
  const std::string first = run_id_;
  const std::string other = Open("Builder", "e-2", "parser");
  SayReceipt(worker_, other, v1::Receipt::EVENT_INJECTED);
  Open("Tester", "e-3", "elsewhere");
  const StopAnswer answer = PostStop(first);
  AnswerStop(worker_);
  const auto stopped = answer.Wait();
  ASSERT_THAT(stopped, IsOk());
  ASSERT_THAT(stopped->also_cancelled(), SizeIs(1));
  EXPECT_EQ(stopped->also_cancelled(0).label(), "parser");
  EXPECT_EQ(stopped->others_also_cancelled(), 0);
}

TEST_F(RunStopsTest, AStopThatFailsIsToldAndShown) {
  const std::string id = OpenRunning("e-1");
  PostStop(run_id_);
  AnswerStop(worker_);
  SayJob(worker_, v1::JobEvent::EVENT_STOP_FAILED, "it does not come to rest");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_THAT(List(coordinator_)->runs(0).detail(),
              HasSubstr("it does not come to rest"));
  ASSERT_THAT(NoticesOf(coordinator_, "STOP"), SizeIs(1));
  EXPECT_THAT(NoticesOf(coordinator_, "STOP")[0].envelope().text(),
              HasSubstr("it does not come to rest"));
  // Only its worker speaks for it.
  SayJob(other_, v1::JobEvent::EVENT_STOP_FAILED, "no");
  EXPECT_THAT(NoticesOf(coordinator_, "STOP"), SizeIs(1));
}

TEST_F(RunStopsTest, AnEndThatCrossesAStopIsTheRunsOwn) {
  const std::string id = OpenRunning("e-1");
  const StopAnswer answer = PostStop(run_id_);
  ASSERT_THAT(StopsOf(worker_), SizeIs(1));
  SayDone(id, "all of it");
  AnswerStop(worker_);
  const auto stopped = answer.Wait();
  ASSERT_THAT(stopped, IsOk());
  EXPECT_EQ(stopped->run().state(), v1::Run::STATE_DONE);
  EXPECT_EQ(stopped->run().reason(), "");
  EXPECT_EQ(TextOf(id), "all of it");
  EXPECT_THAT(SettledIds(coordinator_), ElementsAre(run_id_));
}

TEST_F(RunStopsTest, AStopAfterTheEndIsRefusedAndReachesNoHost) {
  const std::string id = OpenRunning("e-1");
  SayDone(id);
  EXPECT_THAT(PostStop(run_id_).Wait(),
              FailsWith(StatusCode::kFailedPrecondition, "RUN_SETTLED"));
  EXPECT_THAT(StopsOf(worker_), IsEmpty());
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
}

TEST_F(RunStopsTest, AForcedRunWhoseMessageIsNotProvedIsNotDoneLater) {
  const std::string id = Open("Builder", "e-1");
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "begun"));
  ASSERT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  PostStop(run_id_);
  Detach(worker_);
  EXPECT_TRUE(PostStop(run_id_).Wait()->forced());
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_CANCELLED);
  worker_ = JoinWorker("w-1");
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(RunStopsTest, ARunOfAGoneWorkerIsNotDoneLater) {
  const std::string id = Open("Builder", "e-1");
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "begun"));
  Pass(absl::Seconds(20));
  Kill(worker_);
  Pass(absl::Seconds(1));
  Pass(absl::Seconds(5));
  EXPECT_EQ(ReasonFor(id), "worker_gone");
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_CANCELLED);
  worker_ = JoinWorker("w-1");
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(RunStopsTest, ARunThatWaitsForASessionWhichTakesNoneFails) {
  Detach(worker_);
  const std::string id = Open("Builder", "e-1");
  v1::Hello hello = WorkerHello("w-1");
  hello.set_refuses_runs(true);
  worker_ = JoinAs(hello);
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(id), "runs_off");
  EXPECT_THAT(SettledIds(coordinator_), ElementsAre(run_id_));
}

TEST_F(RunStopsTest, ARunThatIsHeldAsItsSessionTakesNoMoreFails) {
  const std::string running = OpenRunning("e-1");
  const std::string held = Open("Builder", "e-2");
  v1::RunPolicy policy;
  policy.set_refuses(true);
  run_desk_.OnPolicy(worker_.key, policy);
  Sync();
  ASSERT_THAT(worker_.link->Of(v1::AttachResponse::kWithdraw), SizeIs(1));
  SayReceipt(worker_, held, v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(ReasonFor(held), "runs_off");
  EXPECT_EQ(StateOf(running), v1::Run::STATE_RUNNING);
}

TEST_F(RunStopsTest, AnothersRunsCanNotBeStopped) {
  OpenRunning("e-1");
  v1::StopRunRequest request;
  request.set_run_id(run_id_);
  StopAnswer answer;
  run_stops_.StopRun(CallOf(other_), request, answer.Callback());
  EXPECT_THAT(answer.Wait(), FailsWith(StatusCode::kNotFound, "UNKNOWN_RUN"));
}

}  // namespace
}  // namespace intercom
