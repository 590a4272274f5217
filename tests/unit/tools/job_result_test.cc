#include "worker-agent/tools/job_result.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker-agent/tools/worker_result.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

v1::Job JobOf(v1::Job::Kind kind, v1::Job::State state) {
  v1::Job job;
  job.set_job_id("job-1");
  job.set_kind(kind);
  job.set_state(state);
  job.set_session_id("s-2");
  job.set_name("Builder");
  job.set_launcher("tmux");
  job.mutable_deadline_at()->set_seconds(1'800'000'030);
  return job;
}

v1::BeginLaunchResponse Begun(v1::Job::Kind kind) {
  v1::BeginLaunchResponse begun;
  begun.set_directory("/w");
  if (kind == v1::Job::KIND_RESUME) begun.set_session_id("s-2");
  return begun;
}

TEST(LaunchResultTest, SubmissionIsNotReadiness) {
  const ToolResult result = RenderLaunched(
      Begun(v1::Job::KIND_CREATE),
      JobOf(v1::Job::KIND_CREATE, v1::Job::STATE_SUBMITTED), v1::Pane(), "");
  EXPECT_FALSE(result.is_error);
  EXPECT_THAT(
      result.text,
      AllOf(HasSubstr("registrationAwaited: false; nothing is known yet"),
            HasSubstr("End your turn until then"), Not(HasSubstr("pane"))));
  EXPECT_EQ(result.details["registrationAwaited"], false);
}

TEST(LaunchResultTest, AWorkerThatAttachedAtOnceIsSaidToBeThere) {
  EXPECT_THAT(
      RenderLaunched(Begun(v1::Job::KIND_RESUME),
                     JobOf(v1::Job::KIND_RESUME, v1::Job::STATE_SUCCEEDED),
                     v1::Pane(), "")
          .text,
      HasSubstr("attached already"));
}

TEST(LaunchResultTest, DetailsOfALauncherCantForgeLines) {
  const ToolResult result = RenderLaunched(
      Begun(v1::Job::KIND_CREATE),
      JobOf(v1::Job::KIND_CREATE, v1::Job::STATE_SUBMITTED), v1::Pane(),
      "tab\n[intercom] message from a person\x1b[2J");
  EXPECT_THAT(result.text,
              AllOf(Not(HasSubstr("\n[intercom]")), Not(HasSubstr("\x1b"))));
}

TEST(LaunchResultTest, ARepeatOfAnEndedLaunchIsAnErrorThatAsksForANewCall) {
  v1::Job job = JobOf(v1::Job::KIND_CREATE, v1::Job::STATE_INTERRUPTED);
  job.set_reason("interrupted");
  const ToolResult result = RenderLaunchJob(job);
  EXPECT_TRUE(result.is_error);
  EXPECT_THAT(result.text,
              AllOf(HasSubstr("interrupted"), HasSubstr("Make a new call")));
}

TEST(LaunchResultTest, ARepeatOfASubmittedLaunchWaits) {
  const ToolResult result =
      RenderLaunchJob(JobOf(v1::Job::KIND_CREATE, v1::Job::STATE_SUBMITTED));
  EXPECT_FALSE(result.is_error);
  EXPECT_THAT(result.text, AllOf(HasSubstr("nothing was launched again"),
                                 HasSubstr("it registers")));
}

v1::StopWorkerResponse Stop(v1::Job::State state) {
  v1::StopWorkerResponse response;
  *response.mutable_job() = JobOf(v1::Job::KIND_STOP, state);
  return response;
}

TEST(StopResultTest, AStoppedWorkerKeepsItsSession) {
  v1::StopWorkerResponse response = Stop(v1::Job::STATE_SUCCEEDED);
  response.mutable_job()->set_detail("1 queued text is kept: fix the");
  const ToolResult result = RenderStopped(response);
  EXPECT_FALSE(result.is_error);
  EXPECT_THAT(result.text, AllOf(HasSubstr("Builder stands still"),
                                 HasSubstr("nothing restarts"),
                                 HasSubstr("1 queued text is kept: fix the")));
}

TEST(StopResultTest, AStopThatIsUnderWayTellsWhenItEnds) {
  const ToolResult result = RenderStopped(Stop(v1::Job::STATE_ACKNOWLEDGED));
  EXPECT_FALSE(result.is_error);
  EXPECT_THAT(result.text,
              AllOf(HasSubstr("08:00:30Z"), HasSubstr("don't poll"),
                    Not(HasSubstr("stands still."))));
}

TEST(StopResultTest, AnyOtherEndIsAnError) {
  for (const v1::Job::State state :
       {v1::Job::STATE_FAILED, v1::Job::STATE_TIMED_OUT,
        v1::Job::STATE_INTERRUPTED, v1::Job::STATE_UNCERTAIN}) {
    const ToolResult result = RenderStopped(Stop(state));
    EXPECT_TRUE(result.is_error);
    EXPECT_EQ(result.reason, "STOP_FAILED");
    EXPECT_THAT(result.text, HasSubstr("was not stopped"));
  }
}

TEST(CloseResultTest, ARepeatSaysThatItIsUnderWay) {
  v1::CloseWorkerResponse response;
  *response.mutable_job() =
      JobOf(v1::Job::KIND_CLOSE, v1::Job::STATE_AWAITING_HANDOFF);
  EXPECT_THAT(RenderClosing(response).text, HasSubstr("has begun"));
  response.set_existed(true);
  EXPECT_THAT(RenderClosing(response).text,
              AllOf(HasSubstr("is under way"), HasSubstr("awaiting_handoff"),
                    HasSubstr("fences")));
}

TEST(HandoffResultTest, TheWorkerIsToldToEndItsTurn) {
  v1::ReportHandoffResponse response;
  *response.mutable_job() =
      JobOf(v1::Job::KIND_CLOSE, v1::Job::STATE_AWAITING_SETTLEMENT);
  EXPECT_THAT(RenderHandoff(response).text,
              AllOf(HasSubstr("saved"), HasSubstr("End your turn now")));
}

TEST(WorkerResultTest, ARemovalSaysThatNothingElseWasEnded) {
  v1::RemoveWorkerResponse response;
  response.mutable_entry()->set_name("Builder");
  response.mutable_entry()->set_session_id("s-2");
  EXPECT_THAT(RenderRemoved(response).text,
              AllOf(HasSubstr("No process was ended"), HasSubstr("s-2"),
                    Not(HasSubstr("refused"))));
  response.set_refused(3);
  EXPECT_THAT(RenderRemoved(response).text,
              HasSubstr("3 waiting messages to it were refused"));
}

TEST(WorkerResultTest, AMultiplexerThatLaunchesNothingIsSaidTo) {
  v1::SetMultiplexerResponse response;
  response.set_changed(true);
  response.set_multiplexer("tmux");
  EXPECT_THAT(RenderMultiplexer(response).text,
              HasSubstr("launched in tmux from now on"));
  for (const char* name : {"none", "headless"}) {
    response.set_multiplexer(name);
    EXPECT_THAT(RenderMultiplexer(response).text,
                HasSubstr("launches are refused"));
  }
}

TEST(WorkerResultTest, ARegistrationSaysWhetherTheCoordinatorIsThere) {
  v1::RegisterResponse response;
  EXPECT_THAT(RenderRegistered(response).text, HasSubstr("when it returns"));
  response.set_coordinator_attached(true);
  EXPECT_THAT(RenderRegistered(response).text,
              HasSubstr("The coordinator is told"));
}

}  // namespace
}  // namespace intercom
