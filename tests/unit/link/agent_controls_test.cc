// The broker's controls, through a whole agent.

#include <unistd.h>

#include <string>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AgentControlsTest : public AgentRig {
 protected:
  static v1::Control Control(v1::Control::Kind kind) {
    v1::Control control;
    control.set_control_id("k-1");
    control.set_kind(kind);
    control.mutable_timeout()->set_seconds(20);
    control.set_job_id("job-1");
    return control;
  }
  static v1::Control Prepare() {
    v1::Control control = Control(v1::Control::KIND_PREPARE_CLOSE);
    control.set_handoff_envelope_id("e-9");
    return control;
  }
  static v1::Control OfHost(v1::Control::Kind kind) {
    v1::Control control = Control(kind);
    control.mutable_identity()->set_session_id("session-2");
    control.mutable_identity()->mutable_pane()->set_pane("%7");
    return control;
  }
};

TEST_F(AgentControlsTest, TheHelloTellsWhatTheHostCanDoAndWhenItStarted) {
  Initialize({{"capabilities", {"stop", "close"}},
              {"launchToken", "secret"},
              {"jobId", "job-7"}});
  const v1::Hello hello = broker_.seen().Hellos().front();
  EXPECT_THAT(hello.capabilities(), ElementsAre("stop", "close"));
  EXPECT_EQ(hello.host_start_ticks(), StartTicksOf(getpid()));
  EXPECT_EQ(hello.launch_token(), "secret");
  EXPECT_EQ(hello.job_id(), "job-7");
}

TEST_F(AgentControlsTest, AProbeIsAnsweredWithTheHostsOwnSessionId) {
  Initialize();
  SendControl(Control(v1::Control::KIND_PROBE));
  const Json request = Next("control");
  EXPECT_EQ(request["params"]["kind"], "probe");
  Respond(request, {{"ok", true}, {"busy", true}, {"sessionId", "another"}});
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_TRUE(result.ok());
  EXPECT_TRUE(result.status().busy());
  EXPECT_EQ(result.status().session_id(), "another");
}

TEST_F(AgentControlsTest, AStopNamesItsJobAndWhenItWasAskedFor) {
  Initialize();
  v1::Control control = Control(v1::Control::KIND_STOP);
  *control.mutable_requested_at() =
      ToProto(absl::FromUnixMillis(1'800'000'000'250));
  SendControl(control);
  const Json request = Next("control");
  EXPECT_EQ(request["params"],
            Json({{"controlId", "k-1"},
                  {"kind", "stop"},
                  {"jobId", "job-1"},
                  {"requestedAt", "2027-01-15T08:00:00.25+00:00"}}));
  Respond(request, {{"ok", true}});
  EXPECT_TRUE(ControlResult("k-1").ok());
}

TEST_F(AgentControlsTest, ARefusalOfTheHostIsPassedOn) {
  Initialize();
  SendControl(Control(v1::Control::KIND_STOP));
  Respond(Next("control"), {{"ok", false}, {"error", "host 0.84 is unknown"}});
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "host 0.84 is unknown");
}

TEST_F(AgentControlsTest, HowAJobGoesOnIsToldToTheBroker) {
  Initialize();
  Notify("job", {{"jobId", "job-1"}, {"event", "stopped"}, {"detail", "a\nb"}});
  Notify("job", {{"jobId", "job-1"}, {"event", "stopFailed"}});
  Notify("job", {{"jobId", "job-1"}, {"event", "settled"}});
  Notify("job", {{"jobId", "job-1"}, {"event", "of a newer host"}});
  Notify("job", {{"jobId", "job-1"}, {"event", "invalidated"}});
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kJobEvent) == 4;
  }));
  std::vector<v1::JobEvent> events;
  for (const auto& frame : broker_.seen().frames) {
    if (frame.has_job_event()) events.push_back(frame.job_event());
  }
  EXPECT_EQ(events[0].job_id(), "job-1");
  EXPECT_EQ(events[0].event(), v1::JobEvent::EVENT_STOPPED);
  EXPECT_EQ(events[0].detail(), "a b");
  EXPECT_EQ(events[1].event(), v1::JobEvent::EVENT_STOP_FAILED);
  EXPECT_EQ(events[2].event(), v1::JobEvent::EVENT_SETTLED);
  EXPECT_EQ(events[3].event(), v1::JobEvent::EVENT_INVALIDATED);
}

TEST_F(AgentControlsTest, APreparedHostIsIdentifiedBySessionProcessAndPane) {
  FakeLaunchRoom::Answers answers;
  v1::Pane pane;
  pane.set_launcher("tmux");
  pane.set_pane("%3");
  answers.own_pane = pane;
  room_.Set(answers);
  Initialize();
  SendControl(Prepare());
  const Json request = Next("control");
  EXPECT_EQ(request["params"], Json({{"controlId", "k-1"},
                                     {"kind", "prepareClose"},
                                     {"jobId", "job-1"},
                                     {"handoffEnvelopeId", "e-9"}}));
  Respond(request, {{"ok", true}, {"sessionFile", "/sessions/a.jsonl"}});
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.identity().session_id(), "session-1");
  EXPECT_EQ(result.identity().session_file(), "/sessions/a.jsonl");
  EXPECT_EQ(result.identity().host_pid(), getpid());
  EXPECT_EQ(result.identity().host_start_ticks(), StartTicksOf(getpid()));
  EXPECT_EQ(result.identity().pane().pane(), "%3");
}

TEST_F(AgentControlsTest, AHostWhosePaneIsNotKnownIsNotTouched) {
  FakeLaunchRoom::Answers answers;
  answers.own_pane = Error(absl::StatusCode::kUnavailable, "PANE_UNKNOWN",
                           "tmux does not answer");
  room_.Set(answers);
  Initialize();
  SendControl(Prepare());
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "tmux does not answer");
  SendControl(Control(v1::Control::KIND_PROBE));
  EXPECT_EQ(Next("control")["params"]["kind"], "probe");
}

TEST_F(AgentControlsTest, APreparationThatTakesTooLongLeavesTheHostAlone) {
  room_.Block();
  Initialize();
  v1::Control control = Prepare();
  control.mutable_timeout()->set_seconds(0);
  control.mutable_timeout()->set_nanos(50'000'000);
  SendControl(control);
  EXPECT_THAT(ControlResult("k-1").error(), HasSubstr("could not be found"));
  room_.Unblock();
  panes_.Do([] {});
  SendControl(Control(v1::Control::KIND_PROBE));
  EXPECT_EQ(Next("control")["params"]["kind"], "probe");
}

TEST_F(AgentControlsTest, AnEndDuringThePreparationLeavesTheHostReleased) {
  room_.Block();
  Initialize();
  SendControl(Prepare());
  ASSERT_TRUE(room_.AwaitCalls(1));
  v1::Control end = Control(v1::Control::KIND_END_CLOSE);
  end.set_control_id("k-2");
  SendControl(end);
  EXPECT_EQ(Next("control")["params"]["kind"], "endClose");
  room_.Unblock();
  panes_.Do([] {});
  SendControl(Control(v1::Control::KIND_PROBE));
  EXPECT_EQ(Next("control")["params"]["kind"], "probe");
}

TEST_F(AgentControlsTest, ACommitIsAnsweredWithItsNonce) {
  Initialize();
  v1::Control control = Control(v1::Control::KIND_COMMIT_CLOSE);
  control.set_nonce("n-1");
  SendControl(control);
  const Json request = Next("control");
  EXPECT_EQ(request["params"]["nonce"], "n-1");
  Respond(request, {{"ok", true}, {"nonce", "n-1"}});
  EXPECT_EQ(ControlResult("k-1").nonce(), "n-1");
}

TEST_F(AgentControlsTest, AnEndedCloseReleasesTheHost) {
  Initialize();
  SendControl(Control(v1::Control::KIND_END_CLOSE));
  const Json request = Next("control");
  EXPECT_EQ(request["params"]["kind"], "endClose");
  EXPECT_EQ(request["params"]["jobId"], "job-1");
  Respond(request, {{"ok", true}});
  EXPECT_TRUE(ControlResult("k-1").ok());
}

TEST_F(AgentControlsTest, AnAttachmentThatEndsIsNoLongerPrepared) {
  room_.Block();
  Initialize();
  SendControl(Prepare());
  ASSERT_TRUE(room_.AwaitCalls(1));
  broker_.BreakStreams();
  NextSession("connecting");
  NextSession("connected");
  room_.Unblock();
  panes_.Do([] {});
  SendControl(Control(v1::Control::KIND_PROBE));
  EXPECT_EQ(Next("control")["params"]["kind"], "probe");
}

TEST_F(AgentControlsTest, AHostIsInspectedByTheAgentItself) {
  Initialize();
  SendControl(OfHost(v1::Control::KIND_INSPECT_HOST));
  EXPECT_TRUE(ControlResult("k-1").ok());
  EXPECT_THAT(room_.calls(), ElementsAre("inspect session-2"));
}

TEST_F(AgentControlsTest, AnInspectionNamesWhatDiffers) {
  FakeLaunchRoom::Answers answers;
  answers.inspection = Error(absl::StatusCode::kFailedPrecondition,
                             "IDENTITY_MISMATCH", "the pane is another");
  room_.Set(answers);
  Initialize();
  SendControl(OfHost(v1::Control::KIND_INSPECT_HOST));
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_FALSE(result.ok());
  EXPECT_EQ(result.error(), "the pane is another");
}

TEST_F(AgentControlsTest, APaneIsClosedAndTheAnswerSaysWhetherItIsGone) {
  FakeLaunchRoom::Answers answers;
  answers.pane_gone = false;
  room_.Set(answers);
  Initialize();
  SendControl(OfHost(v1::Control::KIND_CLOSE_PANE));
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_TRUE(result.ok());
  EXPECT_FALSE(result.pane_gone());
  EXPECT_THAT(room_.calls(), ElementsAre("close %7"));
}

TEST_F(AgentControlsTest, APaneIsNotClosedAfterItsTime) {
  room_.Block();
  Initialize();
  v1::Control inspect = OfHost(v1::Control::KIND_INSPECT_HOST);
  inspect.set_control_id("k-0");
  SendControl(inspect);
  ASSERT_TRUE(room_.AwaitCalls(1));
  v1::Control control = OfHost(v1::Control::KIND_CLOSE_PANE);
  control.mutable_timeout()->set_seconds(0);
  control.mutable_timeout()->set_nanos(50'000'000);
  SendControl(control);
  const v1::ControlResult result = ControlResult("k-1");
  EXPECT_FALSE(result.ok());
  EXPECT_THAT(result.error(), HasSubstr("no pane was closed"));
  room_.Unblock();
  panes_.Do([] {});
  EXPECT_THAT(room_.calls(), ElementsAre("inspect session-2"));
}

TEST_F(AgentControlsTest, QuestionsAboutPanesKeepNobodyWaiting) {
  room_.Block();
  Initialize();
  SendControl(OfHost(v1::Control::KIND_INSPECT_HOST));
  ASSERT_TRUE(room_.AwaitCalls(1));
  Call("call-1", "intercom_list", Json::object());
  EXPECT_EQ(Result("call-1")["isError"], false);
}

TEST_F(AgentControlsTest, AWorkersTabTakesTheNameThatItLoaded) {
  broker_.SetWelcome(WorkerWelcome());
  Initialize();
  EXPECT_THAT(room_.calls(), IsEmpty());
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  ASSERT_TRUE(room_.AwaitCalls(1));
  v1::Control reload = Control(v1::Control::KIND_RELOAD_RESPONSIBILITY);
  *reload.mutable_agent_entry() = Entry("h2");
  reload.mutable_agent_entry()->set_name("Tester");
  SendControl(reload);
  Respond(Next("control"), {{"ok", true}});
  ASSERT_TRUE(room_.AwaitCalls(2));
  EXPECT_THAT(room_.calls(), ElementsAre("name Builder", "name Tester"));
}

TEST_F(AgentControlsTest, TheSameNameIsNotShownAgainAfterABreak) {
  broker_.SetWelcome(WorkerWelcome());
  Initialize();
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  ASSERT_TRUE(room_.AwaitCalls(1));
  broker_.BreakStreams();
  NextSession("connecting");
  NextSession("connected");
  panes_.Do([] {});
  EXPECT_THAT(room_.calls(), ElementsAre("name Builder"));
}

TEST_F(AgentControlsTest, ACoordinatorsTabKeepsItsName) {
  v1::Welcome welcome = WorkerWelcome();
  welcome.set_role(v1::ROLE_COORDINATOR);
  broker_.SetWelcome(welcome);
  Initialize();
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  EXPECT_EQ(NextSession("connected")["loaded"], true);
  panes_.Do([] {});
  EXPECT_THAT(room_.calls(), IsEmpty());
}

TEST_F(AgentControlsTest, ATabThatCantBeNamedIsToldOnceAndHarmsNothing) {
  FakeLaunchRoom::Answers answers;
  answers.naming =
      Error(absl::StatusCode::kUnavailable, "LAUNCH_FAILED", "no server");
  room_.Set(answers);
  broker_.SetWelcome(WorkerWelcome());
  Initialize();
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  EXPECT_EQ(Next("notice")["params"],
            Json({{"level", "warning"},
                  {"text", "The tab could not be named: no server"}}));
  CallSend("call-1");
  EXPECT_EQ(Result("call-1")["isError"], false);
}

TEST_F(AgentControlsTest, AReloadTriesToNameTheTabAgain) {
  FakeLaunchRoom::Answers answers;
  answers.naming =
      Error(absl::StatusCode::kUnavailable, "LAUNCH_FAILED", "no server");
  room_.Set(answers);
  broker_.SetWelcome(WorkerWelcome());
  Initialize();
  Notify("responsibility/loaded", {{"entryHash", "h1"}});
  EXPECT_FALSE(Next("notice").empty());
  // A break is no reason to.
  broker_.BreakStreams();
  NextSession("connecting");
  NextSession("connected");
  panes_.Do([] {});
  EXPECT_THAT(room_.calls(), ElementsAre("name Builder"));
  room_.Set({});
  v1::Control reload = Control(v1::Control::KIND_RELOAD_RESPONSIBILITY);
  *reload.mutable_agent_entry() = Entry("h2");
  const auto reload_once = [&](const std::string& id) {
    reload.set_control_id(id);
    SendControl(reload);
    Respond(Next("control"), {{"ok", true}});
    EXPECT_TRUE(ControlResult(id).ok());
    panes_.Do([] {});
  };
  reload_once("k-1");
  EXPECT_THAT(room_.calls(), ElementsAre("name Builder", "name Builder"));
  reload_once("k-2");
  EXPECT_EQ(room_.calls().size(), 2u);
}

}  // namespace
}  // namespace intercom
