// The tools that launch hosts, through a whole agent.

#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class AgentLaunchTest : public AgentRig {
 protected:
  static Json HostFacts() {
    return {{"launch",
             {{"argv", {"/bin/node", "/lib/pi.js"}},
              {"extension", "/ext/index.ts"},
              {"agentDir", "/home/ada/.pi"}}}};
  }
  static v1::Job Job(v1::Job::Kind kind, v1::Job::State state) {
    v1::Job job;
    job.set_job_id("job-1");
    job.set_kind(kind);
    job.set_state(state);
    job.set_launcher("tmux");
    if (kind == v1::Job::KIND_RESUME) {
      job.set_session_id("session-2");
      job.set_name("Builder");
    }
    return job;
  }
  // What BeginLaunch and AdvanceLaunch answer.
  void Script(v1::Job::Kind kind) {
    v1::BeginLaunchResponse begun;
    *begun.mutable_job() = Job(kind, v1::Job::STATE_REQUESTED);
    begun.set_launch_token("secret");
    begun.set_workspace_root("/w");
    begun.set_directory("/w/part");
    if (kind == v1::Job::KIND_RESUME) begun.set_session_id("session-2");
    broker_.AddAnswer("BeginLaunch", begun);
    ScriptAdvance(kind);
  }
  void ScriptAdvance(v1::Job::Kind kind) {
    v1::AdvanceLaunchResponse advanced;
    *advanced.mutable_job() = Job(kind, v1::Job::STATE_SUBMITTED);
    broker_.AddAnswer("AdvanceLaunch", advanced);
  }
  static FakeLaunchRoom::Answers InPane() {
    FakeLaunchRoom::Answers answers;
    answers.launch.may_be_started = true;
    answers.launch.pane.set_launcher("tmux");
    answers.launch.pane.set_pane("%7");
    answers.launch.host_pid = 4711;
    answers.launch.host_start_ticks = 99;
    answers.launch.detail = "window 3 of the session space";
    return answers;
  }
  void Create(bool repeated = false) {
    Call("job-1", "intercom_create_worker", {{"projectDirectory", "part"}},
         repeated);
  }
  void Resume() {
    Call("job-1", "intercom_resume_worker",
         {{"to", "Builder"}, {"confirmClosed", true}});
  }
  // One launch blocks in the launcher, and job-2 waits behind it.
  void CreateBehindAnother() {
    Script(v1::Job::KIND_CREATE);
    room_.Set(InPane());
    room_.Block();
    Initialize(HostFacts());
    Create();
    ASSERT_TRUE(room_.AwaitCalls(1));
    Call("job-2", "intercom_create_worker", {{"projectDirectory", "part"}});
    ASSERT_TRUE(AwaitCall("job_id: \"job-2\""));
  }
  bool AwaitCall(const std::string& text, int times = 1) {
    return broker_.Await([&](const FakeBroker::Seen& seen) {
      int found = 0;
      for (const std::string& call : seen.calls) {
        if (call.find(text) != std::string::npos) ++found;
      }
      return found >= times;
    });
  }
  // The steps that the broker was told, in order.
  std::vector<std::string> Steps() {
    std::vector<std::string> steps;
    for (const std::string& call : broker_.seen().calls) {
      const size_t at = call.find("step: STEP_");
      if (at == std::string::npos) continue;
      const size_t begin = at + std::string("step: STEP_").size();
      steps.push_back(call.substr(begin, call.find(' ', begin) - begin));
    }
    return steps;
  }
};

TEST_F(AgentLaunchTest, AWorkerIsLaunchedAndTheResultSaysWhatWasSubmitted) {
  Script(v1::Job::KIND_CREATE);
  room_.Set(InPane());
  Initialize(HostFacts());
  Create();
  const Json result = Result("job-1");
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(
      result["text"].get<std::string>(),
      AllOf(HasSubstr("submitted to tmux"), HasSubstr("job job-1"),
            HasSubstr("/w/part"), HasSubstr("pane %7"),
            HasSubstr("window 3 of the session space"),
            HasSubstr("it registers"), HasSubstr("intercom_configure_worker")));
  EXPECT_EQ(result["details"], Json({{"jobId", "job-1"},
                                     {"launcher", "tmux"},
                                     {"pane", "%7"},
                                     {"directory", "/w/part"},
                                     {"registrationAwaited", false}}));
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING", "LAUNCHED"));
  EXPECT_THAT(broker_.seen().calls.front(),
              AllOf(StartsWith("BeginLaunch"), HasSubstr("job_id: \"job-1\""),
                    HasSubstr("project_directory: \"part\"")));
  EXPECT_THAT(broker_.seen().calls.back(),
              AllOf(HasSubstr("host_pid: 4711"), HasSubstr("\"%7\"")));
  EXPECT_THAT(room_.calls(), ElementsAre("start /w/part"));
  EXPECT_EQ(room_.plans()[0].environment.at("PI_INTERCOM_LAUNCH_TOKEN"),
            "secret");
  EXPECT_FALSE(room_.plans()[0].environment.contains("TERM"));
}

TEST_F(AgentLaunchTest, AHeadlessWorkerIsLaunchedWithinTheLimitAndSupervised) {
  v1::Welcome welcome;
  welcome.set_role(v1::ROLE_WORKER);
  for (const char* operation : {"worker.create", "peer.send"}) {
    welcome.add_operations(operation);
  }
  broker_.SetWelcome(welcome);
  v1::BeginLaunchResponse begun;
  *begun.mutable_job() = Job(v1::Job::KIND_CREATE, v1::Job::STATE_REQUESTED);
  begun.mutable_job()->set_launcher("headless");
  begun.set_launch_token("secret");
  broker_.AddAnswer("BeginLaunch", begun);
  ScriptAdvance(v1::Job::KIND_CREATE);
  room_.Set(InPane());
  Json facts = HostFacts();
  facts["mostHeadless"] = 3;
  EXPECT_THAT(Initialize(facts).dump(), Not(HasSubstr("\"peek\"")));
  Call("job-1", "intercom_create_worker", {{"launcher", "headless"}});
  EXPECT_THAT(NextSession("connected").dump(), HasSubstr("\"peek\""));
  EXPECT_EQ(Result("job-1")["isError"], false);
  EXPECT_THAT(broker_.seen().calls.at(0),
              AllOf(HasSubstr("launcher: \"headless\""),
                    HasSubstr("most_headless: 3")));
}

TEST_F(AgentLaunchTest, NothingIsSubmittedBeforeTheBrokerHasItOnDisk) {
  Script(v1::Job::KIND_CREATE);
  broker_.Hold("AdvanceLaunch");
  Initialize(HostFacts());
  Create();
  ASSERT_TRUE(AwaitCall("STEP_SUBMITTING"));
  launching_.Do([] {});
  EXPECT_THAT(room_.calls(), IsEmpty());
  broker_.Release("AdvanceLaunch");
  EXPECT_EQ(Result("job-1")["isError"], false);
  EXPECT_THAT(room_.calls(), ElementsAre("start /w/part"));
}

TEST_F(AgentLaunchTest, AHostThatDoesNotSayHowItWasStartedLaunchesNothing) {
  Initialize();
  Create();
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "LAUNCH_UNKNOWN");
  EXPECT_THAT(broker_.seen().calls, IsEmpty());
  EXPECT_THAT(room_.calls(), IsEmpty());
}

TEST_F(AgentLaunchTest, ARefusalOfTheBrokerLaunchesNothing) {
  broker_.AddError("BeginLaunch", Error(absl::StatusCode::kFailedPrecondition,
                                        "LAUNCHER_NONE", "none launches"));
  Initialize(HostFacts());
  Create();
  EXPECT_EQ(Result("job-1")["reason"], "LAUNCHER_NONE");
  EXPECT_THAT(room_.calls(), IsEmpty());
  EXPECT_THAT(Steps(), IsEmpty());
}

TEST_F(AgentLaunchTest, ABrokerThatDoesNotAnswerTheBeginningLaunchesNothing) {
  Script(v1::Job::KIND_CREATE);
  broker_.BreakCalls(1);
  Initialize(HostFacts());
  Create();
  EXPECT_EQ(Result("job-1")["reason"], "LAUNCH_NOT_BEGUN");
  EXPECT_THAT(room_.calls(), IsEmpty());
}

TEST_F(AgentLaunchTest, ABrokerThatDoesNotConfirmTheStepLaunchesNothing) {
  broker_.AddError("AdvanceLaunch", Error(absl::StatusCode::kFailedPrecondition,
                                          "JOB_ENDED", "the job has ended"));
  Script(v1::Job::KIND_CREATE);
  Initialize(HostFacts());
  Create();
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "JOB_ENDED");
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("nothing was launched"));
  EXPECT_THAT(room_.calls(), IsEmpty());
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING", "NOT_SUBMITTED"));
}

TEST_F(AgentLaunchTest, ARepeatOfALaunchThatWasSubmittedLaunchesNothing) {
  v1::BeginLaunchResponse begun;
  *begun.mutable_job() = Job(v1::Job::KIND_CREATE, v1::Job::STATE_SUBMITTED);
  broker_.AddAnswer("BeginLaunch", begun);
  Initialize(HostFacts());
  Create(/*repeated=*/true);
  const Json result = Result("job-1");
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("nothing was launched again"));
  EXPECT_THAT(room_.calls(), IsEmpty());
  EXPECT_THAT(Steps(), IsEmpty());
}

TEST_F(AgentLaunchTest, ARepeatOfALaunchThatWasOnlyBegunGoesOn) {
  Script(v1::Job::KIND_CREATE);
  room_.Set(InPane());
  Initialize(HostFacts());
  Create(/*repeated=*/true);
  EXPECT_EQ(Result("job-1")["isError"], false);
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING", "LAUNCHED"));
}

TEST_F(AgentLaunchTest, ARepeatThatTheBrokerDoesNotAnswerIsUnknown) {
  Script(v1::Job::KIND_CREATE);
  broker_.BreakCalls(1);
  Initialize(HostFacts());
  Create(/*repeated=*/true);
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "OUTCOME_UNKNOWN");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("intercom job show job-1"),
                    Not(HasSubstr("intercom_list"))));
}

TEST_F(AgentLaunchTest, ALauncherThatTookNothingIsAnErrorAndTold) {
  Script(v1::Job::KIND_CREATE);
  FakeLaunchRoom::Answers answers;
  answers.launch.status = Error(absl::StatusCode::kFailedPrecondition,
                                "LAUNCHER_UNAVAILABLE", "there is no tmux");
  room_.Set(answers);
  Initialize(HostFacts());
  Create();
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "LAUNCHER_UNAVAILABLE");
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING", "NOT_SUBMITTED"));
  EXPECT_THAT(broker_.seen().calls.back(),
              AllOf(HasSubstr("there is no tmux"),
                    HasSubstr("reason: \"LAUNCHER_UNAVAILABLE\"")));
}

TEST_F(AgentLaunchTest, ALauncherThatFailedHalfwayLeavesItOpen) {
  Script(v1::Job::KIND_CREATE);
  FakeLaunchRoom::Answers answers = InPane();
  answers.launch.status =
      Error(absl::StatusCode::kDeadlineExceeded, "LAUNCH_TIMED_OUT",
            "the tab was made, but the command was not taken");
  room_.Set(answers);
  Initialize(HostFacts());
  Create();
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "LAUNCH_TIMED_OUT");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("Whether a session started is not known"),
                    HasSubstr("intercom job resolve")));
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING", "UNKNOWN"));
}

TEST_F(AgentLaunchTest, ASavedSessionIsFoundThenOpenedByItsFile) {
  Script(v1::Job::KIND_RESUME);
  room_.Set(InPane());
  Initialize(HostFacts());
  Resume();
  const Json result = Result("job-1");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("launch of Builder was submitted"),
                    HasSubstr("old work is not restarted")));
  EXPECT_EQ(result["details"]["sessionId"], "session-2");
  EXPECT_THAT(room_.calls(),
              ElementsAre("find session-2 in /w/part of /home/ada/.pi",
                          "start /w/part"));
  EXPECT_THAT(room_.plans()[0].argv,
              ElementsAre("/bin/node", "/lib/pi.js", "-e", "/ext/index.ts",
                          "--session", "/sessions/saved.jsonl"));
  EXPECT_THAT(broker_.seen().calls.front(),
              AllOf(HasSubstr("resume: \"Builder\""),
                    HasSubstr("confirm_closed: true")));
}

TEST_F(AgentLaunchTest, AMissingSessionIsAnErrorAndNeverReplaced) {
  Script(v1::Job::KIND_RESUME);
  FakeLaunchRoom::Answers answers;
  answers.saved_session = Error(absl::StatusCode::kNotFound,
                                "SESSION_FILE_MISSING", "looked in /sessions");
  room_.Set(answers);
  Initialize(HostFacts());
  Resume();
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "SESSION_FILE_MISSING");
  EXPECT_THAT(room_.plans(), IsEmpty());
  EXPECT_THAT(Steps(), ElementsAre("NOT_SUBMITTED"));
}

TEST_F(AgentLaunchTest, ResumeNeedsTheWordThatTheSessionIsClosed) {
  Initialize(HostFacts());
  Call("job-1", "intercom_resume_worker",
       {{"to", "Builder"}, {"confirmClosed", false}});
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "ARGUMENT_INVALID");
  EXPECT_THAT(broker_.seen().calls, IsEmpty());
}

TEST_F(AgentLaunchTest, WhatBecameOfALaunchIsToldOnceABrokerIsBack) {
  Script(v1::Job::KIND_CREATE);
  room_.Set(InPane());
  room_.Block();
  Initialize(HostFacts());
  Create();
  ASSERT_TRUE(room_.AwaitCalls(1));
  broker_.Refuse(Error(absl::StatusCode::kUnavailable, "BROKER_DRAINING", ""));
  broker_.BreakStreams();
  NextSession("connecting");
  room_.Unblock();
  const Json result = Result("job-1");
  EXPECT_EQ(result["isError"], false);
  broker_.Refuse(absl::OkStatus());
  EXPECT_TRUE(AwaitCall("STEP_LAUNCHED"));
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING", "LAUNCHED"));
}

TEST_F(AgentLaunchTest, ALaunchKeepsNobodyWaiting) {
  Script(v1::Job::KIND_CREATE);
  room_.Set(InPane());
  room_.Block();
  Initialize(HostFacts());
  Create();
  ASSERT_TRUE(room_.AwaitCalls(1));
  // Others are answered, and the link is mended, while it blocks.
  Call("call-2", "intercom_list", Json::object());
  EXPECT_EQ(Result("call-2")["isError"], false);
  broker_.BreakStreams();
  EXPECT_EQ(NextSession("connected")["role"], "coordinator");
  room_.Unblock();
  EXPECT_EQ(Result("job-1")["isError"], false);
}

TEST_F(AgentLaunchTest, ACallThatIsCancelledInTimeLaunchesNothing) {
  Script(v1::Job::KIND_CREATE);
  broker_.Hold("AdvanceLaunch");
  Initialize(HostFacts());
  Create();
  ASSERT_TRUE(AwaitCall("STEP_SUBMITTING"));
  Notify("tools/cancel", {{"callId", "job-1"}});
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "CANCELLED");
  broker_.Release("AdvanceLaunch");
  EXPECT_TRUE(AwaitCall("STEP_NOT_SUBMITTED"));
  EXPECT_THAT(room_.calls(), IsEmpty());
}

TEST_F(AgentLaunchTest, ACallThatIsCancelledTooLateSaysThatItGoesOn) {
  Script(v1::Job::KIND_CREATE);
  room_.Set(InPane());
  room_.Block();
  Initialize(HostFacts());
  Create();
  ASSERT_TRUE(room_.AwaitCalls(1));
  Notify("tools/cancel", {{"callId", "job-1"}});
  const Json result = Result("job-1");
  EXPECT_EQ(result["reason"], "OUTCOME_UNKNOWN");
  EXPECT_THAT(
      result["text"].get<std::string>(),
      AllOf(HasSubstr("it goes on"), HasSubstr("intercom job show job-1"),
            Not(HasSubstr("intercom_list"))));
  room_.Unblock();
  EXPECT_TRUE(AwaitCall("STEP_LAUNCHED"));
  EXPECT_THAT(Steps(), Not(IsEmpty()));
}

TEST_F(AgentLaunchTest,
       ALaunchThatWaitsForAnotherIsNotAnnouncedAndCanBeCancelled) {
  CreateBehindAnother();
  Notify("tools/cancel", {{"callId", "job-2"}});
  EXPECT_EQ(Result("job-2")["reason"], "CANCELLED");
  room_.Unblock();
  EXPECT_EQ(Result("job-1")["isError"], false);
  EXPECT_TRUE(AwaitCall("STEP_NOT_SUBMITTED"));
  EXPECT_THAT(Steps(), ::testing::UnorderedElementsAre("SUBMITTING", "LAUNCHED",
                                                       "NOT_SUBMITTED"));
  EXPECT_THAT(room_.calls(), ElementsAre("start /w/part"));
}

TEST_F(AgentLaunchTest, LaunchesComeToTheLauncherOneByOne) {
  CreateBehindAnother();
  EXPECT_THAT(Steps(), ElementsAre("SUBMITTING"));
  room_.Unblock();
  EXPECT_EQ(Result("job-1")["isError"], false);
  EXPECT_EQ(Result("job-2")["isError"], false);
  EXPECT_THAT(room_.calls(), ElementsAre("start /w/part", "start /w/part"));
}

}  // namespace
}  // namespace intercom
