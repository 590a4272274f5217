#include "broker/work/stop_desk.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/job_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class StopDeskTest : public JobRig {
 protected:
  using StopAnswer = Answer<absl::StatusOr<v1::StopWorkerResponse>>;

  StopAnswer PostStop(const std::string& to = "Reviewer") {
    v1::StopWorkerRequest request;
    request.set_to(to);
    StopAnswer answer = Post<v1::StopWorkerResponse>(
        stops_, &StopDesk::Stop, CallOf(coordinator_), request);
    // It asks the config first: a call behind it has been there, too.
    EXPECT_THAT(ReadConfigNow(), IsOk());
    Sync();
    return answer;
  }
  // The job of the stop that w-1 was asked for.
  std::string Job() {
    const auto stops = ControlsOf(worker_, v1::Control::KIND_STOP);
    return stops.empty() ? "" : stops.back().job_id();
  }
  v1::Job::State State() { return JobOf(Job()).state; }
};

TEST_F(StopDeskTest, AnswersWhenTheHostStandsStill) {
  const StopAnswer answer = PostStop();
  const auto stops = ControlsOf(worker_, v1::Control::KIND_STOP);
  ASSERT_THAT(stops, SizeIs(1));
  EXPECT_EQ(stops[0].timeout().seconds(), 5);
  EXPECT_EQ(
      stops[0].deadline_at().seconds() - stops[0].requested_at().seconds(), 30);
  EXPECT_EQ(State(), v1::Job::STATE_REQUESTED);
  AnswerLast(worker_, v1::Control::KIND_STOP, Ok());
  EXPECT_EQ(State(), v1::Job::STATE_ACKNOWLEDGED);
  EXPECT_EQ(answer.count(), 0);
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOPPED, "kept: \"look there\"");
  const auto response = answer.Wait();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(response->job().detail(), "kept: \"look there\"");
  EXPECT_THAT(NoticesOf("STOP"), IsEmpty());
}

TEST_F(StopDeskTest, ARunOfAStoppedWorkerSettlesOnceByItsHostsWord) {
  const std::string id = OpenRunning("e-1");
  const StopAnswer answer = PostStop();
  AnswerLast(worker_, v1::Control::KIND_STOP, Ok());
  EXPECT_EQ(RunOf(id).state, v1::Run::STATE_RUNNING);
  SayRun(id, v1::RunEvent::EVENT_STOPPED);
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOPPED);
  ASSERT_THAT(answer.Wait(), IsOk());
  SayRun(id, v1::RunEvent::EVENT_DONE);
  EXPECT_EQ(RunOf(id).state, v1::Run::STATE_STOPPED);
  EXPECT_EQ(RunOf(id).reason, "cancelled");
  EXPECT_EQ(RunOf(id).detail, "it was cancelled at the worker");
  EXPECT_EQ(SettledInNews(), 1);
}

TEST_F(StopDeskTest, AFailedStopOfTheWorkerLeavesItsRunAsItIs) {
  const std::string id = OpenRunning("e-1");
  PostStop();
  AnswerLast(worker_, v1::Control::KIND_STOP, Ok());
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOP_FAILED, "it goes on");
  EXPECT_EQ(RunOf(id).state, v1::Run::STATE_RUNNING);
  EXPECT_EQ(RunOf(id).detail, "");
}

TEST_F(StopDeskTest, AnAnsweredStopIsNotToldAtTheNextStart) {
  const StopAnswer answer = PostStop();
  AnswerLast(worker_, v1::Control::KIND_STOP, Ok());
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOPPED);
  ASSERT_THAT(answer.Wait(), IsOk());
  StartAnew();
  EXPECT_THAT(NoticesOf("STOP"), IsEmpty());
}

TEST_F(StopDeskTest, AHostThatIsNotVerifiedIsRefusedBeforeAnything) {
  v1::Hello hello = WorkerHello("w-2");
  hello.clear_capabilities();
  const TestSession builder = JoinAs(hello);
  EXPECT_THAT(
      PostStop("Builder").Wait(),
      FailsWith(absl::StatusCode::kFailedPrecondition, "HOST_NOT_VERIFIED"));
  EXPECT_THAT(builder.link->Of(v1::AttachResponse::kControl), IsEmpty());
  EXPECT_THAT(OnState([&] { return job_store_.Open().value(); }), IsEmpty());
}

TEST_F(StopDeskTest, OnlyAttachedWorkersAreStopped) {
  EXPECT_THAT(PostStop("Builder").Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_AWAY"));
  EXPECT_THAT(PostStop("Coordinator").Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
  EXPECT_THAT(PostStop("Nobody").Wait(),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
}

TEST_F(StopDeskTest, AStopIsOnDiskBeforeTheHostHearsOfIt) {
  EXPECT_THAT(OnState([&] {
                return runner_->database().Execute(
                    "CREATE TEMP TRIGGER full BEFORE INSERT ON main.jobs "
                    "BEGIN SELECT RAISE(ABORT, 'no room'); END");
              }),
              IsOk());
  EXPECT_FALSE(PostStop().Wait().ok());
  EXPECT_THAT(worker_.link->Of(v1::AttachResponse::kControl), IsEmpty());
}

TEST_F(StopDeskTest, ARepeatJoinsTheStopThatRuns) {
  const StopAnswer first = PostStop();
  const StopAnswer second = PostStop();
  EXPECT_THAT(ControlsOf(worker_, v1::Control::KIND_STOP), SizeIs(1));
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(first.Wait()->job().job_id(), second.Wait()->job().job_id());
  EXPECT_EQ(second.Wait()->job().state(), v1::Job::STATE_SUCCEEDED);
  // The next one is a new one.
  PostStop();
  EXPECT_THAT(ControlsOf(worker_, v1::Control::KIND_STOP), SizeIs(2));
}

TEST_F(StopDeskTest, AStopFencesNothingButACloseAndAResume) {
  PostStop();
  EXPECT_FALSE(OnState([&] { return fences_.JobOf(root_, "w-1")->fences(); }));
  EXPECT_THAT(Send(CallOf(worker_), "Coordinator", Message("e1")), IsOk());
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e2")), IsOk());
  EXPECT_THAT(worker_.link->texts(), SizeIs(1));
  v1::ConfigureWorkerRequest configure;
  configure.set_session_id("w-1");
  configure.set_name("Reviewer");
  configure.set_description("d");
  EXPECT_THAT(Call(&WorkerDesk::Configure, CallOf(coordinator_), configure),
              IsOk());
  v1::CloseWorkerRequest close;
  close.set_to("Reviewer");
  EXPECT_THAT(
      Ask<v1::CloseWorkerResponse>(closes_, &CloseDesk::Close,
                                   CallOf(coordinator_), close),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
}

TEST_F(StopDeskTest, AClosingWorkerIsNotStopped) {
  v1::CloseWorkerRequest close;
  close.set_to("Reviewer");
  ASSERT_THAT(Ask<v1::CloseWorkerResponse>(closes_, &CloseDesk::Close,
                                           CallOf(coordinator_), close),
              IsOk());
  EXPECT_THAT(
      PostStop().Wait(),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
}

TEST_F(StopDeskTest, AfterEightSecondsTheCallerHasTheJobAndHearsOfItsEnd) {
  const StopAnswer answer = PostStop();
  AnswerLast(worker_, v1::Control::KIND_STOP, Ok());
  Advance(StopDesk::kAnswerWithin);
  const auto response = answer.Wait();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->job().state(), v1::Job::STATE_ACKNOWLEDGED);
  EXPECT_THAT(NoticesOf("STOP"), IsEmpty());
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOPPED);
  ASSERT_THAT(NoticesOf("STOP"), SizeIs(1));
  EXPECT_THAT(NoticesOf("STOP")[0], HasSubstr("Reviewer has stopped"));
  EXPECT_EQ(answer.count(), 1);
}

TEST_F(StopDeskTest, AtTheDeadlineItTimesOutAndTheCoordinatorIsTold) {
  PostStop();
  const std::string job = Job();
  Advance(StopDesk::kAnswerWithin);
  Advance(StopDesk::kDeadline);
  EXPECT_EQ(JobOf(job).state, v1::Job::STATE_TIMED_OUT);
  EXPECT_EQ(JobOf(job).reason, "timeout");
  ASSERT_THAT(NoticesOf("STOP"), SizeIs(1));
  EXPECT_THAT(NoticesOf("STOP")[0], HasSubstr("timed_out"));
  // What comes later changes nothing.
  SayEvent(worker_, job, v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(JobOf(job).state, v1::Job::STATE_TIMED_OUT);
}

TEST_F(StopDeskTest, AHostThatAcknowledgesLateIsWaitedFor) {
  PostStop();
  Advance(StopDesk::kAcknowledgeWithin);
  EXPECT_EQ(State(), v1::Job::STATE_REQUESTED);
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(StopDeskTest, ARefusalEndsItWithTheHostsReason) {
  const StopAnswer answer = PostStop();
  AnswerLast(worker_, v1::Control::KIND_STOP, Refusal("a dialog is open"));
  const auto response = answer.Wait();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->job().state(), v1::Job::STATE_FAILED);
  EXPECT_EQ(response->job().reason(), "refused");
  EXPECT_EQ(response->job().detail(), "a dialog is open");
}

TEST_F(StopDeskTest, AStopThatFailedSaysWhy) {
  const StopAnswer answer = PostStop();
  AnswerLast(worker_, v1::Control::KIND_STOP, Ok());
  SayEvent(worker_, Job(), v1::JobEvent::EVENT_STOP_FAILED, "a tool hangs");
  EXPECT_EQ(answer.Wait()->job().state(), v1::Job::STATE_FAILED);
  EXPECT_EQ(answer.Wait()->job().detail(), "a tool hangs");
}

TEST_F(StopDeskTest, AHostThatStartsAnewHasStopped) {
  const StopAnswer answer = PostStop();
  Detach(worker_, v1::Goodbye::REASON_RESUME);
  EXPECT_EQ(answer.count(), 0);
  v1::Hello hello = WorkerHello("w-1");
  hello.set_start_reason(v1::START_REASON_RESUME);
  JoinAs(hello);
  const auto response = answer.Wait();
  EXPECT_EQ(response->job().state(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(response->job().detail(), "its host started anew");
}

TEST_F(StopDeskTest, AnAgentThatOnlyComesBackProvesNothing) {
  const StopAnswer answer = PostStop();
  const std::string job = Job();
  Detach(worker_);
  v1::Hello hello = WorkerHello("w-1");
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  worker_ = JoinAs(hello);
  EXPECT_EQ(JobOf(job).state, v1::Job::STATE_REQUESTED);
  // Its host's own word does.
  SayEvent(worker_, job, v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(answer.Wait()->job().state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(StopDeskTest, AnotherSessionSaysNothingOfIt) {
  PostStop();
  const TestSession other = JoinWorker("w-2");
  SayEvent(other, Job(), v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(State(), v1::Job::STATE_REQUESTED);
}

TEST_F(StopDeskTest, AnEndThatCannotBeStoredIsTriedAgain) {
  const StopAnswer answer = PostStop();
  const std::string job = Job();
  BreakStorage(v1::Job::STATE_SUCCEEDED);
  SayEvent(worker_, job, v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(answer.count(), 0);
  MendStorage();
  Advance(Jobs::kEndAgain);
  EXPECT_EQ(answer.Wait()->job().state(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(StopDeskTest, ARestartInterruptsItAndTellsTheCoordinator) {
  JobRow job;
  job.job_id = "left-stop";
  job.kind = v1::Job::KIND_STOP;
  job.root = root_;
  job.session_id = "w-1";
  job.name = "Reviewer";
  job.state = v1::Job::STATE_ACKNOWLEDGED;
  job.created_at = job.updated_at = clock_.Now();
  job.deadline_at = clock_.Now() + absl::Seconds(30);
  Leave(job);
  StartAnew();
  EXPECT_EQ(JobOf("left-stop").state, v1::Job::STATE_INTERRUPTED);
  EXPECT_THAT(NoticesOf("STOP"), SizeIs(1));
  EXPECT_THAT(ControlsOf(worker_, v1::Control::KIND_STOP), IsEmpty());
}

}  // namespace
}  // namespace intercom
