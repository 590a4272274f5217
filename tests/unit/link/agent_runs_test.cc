// Runs through a whole agent: the supervisor's calls, bulletins, the worker's
// side.

#include <algorithm>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class AgentRunsTest : public AgentRig {
 protected:
  AgentRunsTest() {
    v1::Welcome welcome;
    welcome.set_role(v1::ROLE_PEER);
    for (const char* operation :
         {"peer.send", "peer.open", "run.supervise", "run.work"}) {
      welcome.add_operations(operation);
    }
    broker_.SetWelcome(welcome);
  }
  static v1::Run RunOf(const std::string& id, v1::Run::State state) {
    v1::Run run;
    run.set_run_id(id);
    run.set_delivery_id("session-2/m-" + id);
    run.set_supervisor_session_id("session-2");
    run.set_supervisor_name("planner");
    run.set_state(state);
    return run;
  }
  static v1::SettledRun Ended(const std::string& id,
                              const std::string& text = "all of it") {
    v1::SettledRun settled;
    *settled.mutable_run() = RunOf(id, v1::Run::STATE_DONE);
    settled.mutable_result()->set_text(text);
    return settled;
  }
  static v1::AwaitRunsResponse Waited(const std::vector<std::string>& settled,
                                      const std::vector<std::string>& open) {
    v1::AwaitRunsResponse response;
    for (const auto& id : settled) *response.add_settled() = Ended(id);
    for (const auto& id : open) {
      *response.add_open() = RunOf(id, v1::Run::STATE_RUNNING);
    }
    return response;
  }
  Json Do(Json arguments, const std::string& call_id = "call-1") {
    Call(call_id, "intercom", std::move(arguments));
    return Result(call_id);
  }
  bool AwaitCalls(const std::string& name, int times) {
    return broker_.Await([&](const FakeBroker::Seen& seen) {
      return std::count_if(seen.calls.begin(), seen.calls.end(),
                           [&](const std::string& call) {
                             return call.starts_with(name + " ");
                           }) >= times;
    });
  }
  void SendNews(const std::vector<std::string>& settled, int open) {
    v1::AttachResponse frame;
    v1::RunNews& news = *frame.mutable_run_news();
    for (const auto& id : settled) *news.add_settled() = Ended(id);
    news.set_open(open);
    news.set_supervises(true);
    ASSERT_TRUE(broker_.Send(std::move(frame)));
  }
  void SendOpenRuns(const std::vector<std::string>& ids) {
    v1::AttachResponse frame;
    v1::OpenRuns& open = *frame.mutable_open_runs();
    for (const auto& id : ids) {
      *open.add_runs() = RunOf(id, v1::Run::STATE_RUNNING);
    }
    ASSERT_TRUE(broker_.Send(std::move(frame)));
  }
  // Everything that the broker was told of runs of this supervisor.
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    for (const auto& frame : broker_.seen().frames) {
      for (const auto& id : frame.runs_told().announced()) {
        told.push_back("announced " + id);
      }
      for (const auto& id : frame.runs_told().collected()) {
        told.push_back("collected " + id);
      }
    }
    return told;
  }
  bool AwaitTold(size_t count) {
    return broker_.Await([&](const FakeBroker::Seen& seen) {
      return seen.Count(v1::AttachRequest::kRunsTold) >=
             static_cast<int>(count);
    });
  }
  static std::vector<std::string> NamesOf(const Json& session) {
    std::vector<std::string> names;
    for (const Json& tool : session["tools"]) names.push_back(tool["name"]);
    return names;
  }
  static bool HasAction(const Json& session, const std::string& action) {
    for (const Json& tool : session["tools"]) {
      if (tool["name"] != "intercom") continue;
      const auto actions =
          StringsField(tool["parameters"]["properties"]["action"], "enum");
      return std::find(actions.begin(), actions.end(), action) != actions.end();
    }
    return false;
  }
};

TEST_F(AgentRunsTest, PeekShowsTheRunsAndCollectsNothing) {
  v1::ListRunsResponse runs;
  *runs.add_runs() = RunOf("run-1", v1::Run::STATE_RUNNING);
  broker_.AddAnswer("ListRuns", runs);
  Initialize();
  const Json result = Do({{"action", "peek"}, {"to", "run-1"}});
  EXPECT_THAT(result["text"].get<std::string>(), HasSubstr("run-1"));
  EXPECT_FALSE(result.contains("ids"));
  EXPECT_THAT(broker_.seen().calls, ElementsAre("ListRuns run_ids: \"run-1\""));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(AgentRunsTest, AResultIsWholeAndCollected) {
  v1::GetRunResponse response;
  *response.mutable_settled() = Ended("run-1", std::string(60'000, 'x'));
  broker_.AddAnswer("GetRun", response);
  Initialize();
  const Json result = Do({{"action", "result"}, {"runId", "run-1"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("> " + std::string(60'000, 'x') + "\n"));
  EXPECT_EQ(result["ids"], Json({"run-1"}));
  Notify("results/shown", {{"ids", {"run-1"}}});
  ASSERT_TRUE(AwaitTold(1));
  EXPECT_THAT(Told(), ElementsAre("collected run-1"));
}

TEST_F(AgentRunsTest, AResultThatNeverCameIntoTheSessionIsNotCollected) {
  v1::GetRunResponse response;
  *response.mutable_settled() = Ended("run-1");
  broker_.AddAnswer("GetRun", response);
  broker_.AddAnswer("ListRuns", v1::ListRunsResponse());
  Initialize();
  SendNews({"run-1"}, 0);
  const Json bulletin = Next("bulletin")["params"];
  EXPECT_EQ(Do({{"action", "result"}, {"runId", "run-1"}})["ids"],
            Json({"run-1"}));
  Notify("results/lost", {{"ids", {"run-1"}}});
  // It is announced, as if there had been no call.
  Notify("bulletin/shown", {{"topic", "runs"}, {"key", bulletin["key"]}});
  ASSERT_TRUE(AwaitTold(1));
  EXPECT_THAT(Told(), ElementsAre("announced run-1"));
}

TEST_F(AgentRunsTest, ARunIsChargedOnceHoweverManyCallsTellItsResult) {
  v1::SettledRun ended = Ended("run-1");
  ended.mutable_run()->set_headless(true);
  ended.mutable_run()->mutable_usage()->set_input_tokens(5);
  v1::GetRunResponse response;
  *response.mutable_settled() = ended;
  v1::AwaitRunsResponse waited;
  *waited.add_settled() = ended;
  broker_.AddAnswer("GetRun", response);
  broker_.AddAnswer("AwaitRuns", waited);
  broker_.Hold("AwaitRuns");
  Initialize();
  Call("call-1", "intercom", {{"action", "wait"}, {"runId", "run-1"}});
  ASSERT_TRUE(AwaitCalls("AwaitRuns", 1));
  EXPECT_TRUE(Do({{"action", "result"}, {"runId", "run-1"}}, "call-2")
                  .contains("usage"));
  broker_.Release("AwaitRuns");
  const Json second = Result("call-1");
  EXPECT_EQ(second["ids"], Json({"run-1"}));
  EXPECT_FALSE(second.contains("usage"));
  // The one that was charged came to nothing.
  Notify("results/lost", {{"ids", {"run-1"}}});
  EXPECT_TRUE(Do({{"action", "result"}, {"runId", "run-1"}}, "call-3")
                  .contains("usage"));
}

TEST_F(AgentRunsTest, AResultThatIsNotThereSaysWhyAndCollectsNothing) {
  broker_.AddError("GetRun", Error(absl::StatusCode::kFailedPrecondition,
                                   "RUN_OPEN", "run-1 is still running"));
  Initialize();
  const Json result = Do({{"action", "result"}, {"runId", "run-1"}});
  EXPECT_EQ(result["reason"], "RUN_OPEN");
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(AgentRunsTest, AResultWhoseCallWasCancelledIsNotCollected) {
  v1::GetRunResponse response;
  *response.mutable_settled() = Ended("run-1");
  broker_.AddAnswer("GetRun", response);
  broker_.Hold("GetRun");
  Initialize();
  Call("call-1", "intercom", {{"action", "result"}, {"runId", "run-1"}});
  ASSERT_TRUE(AwaitCalls("GetRun", 1));
  Notify("tools/cancel", {{"callId", "call-1"}});
  EXPECT_EQ(Result("call-1")["isError"], true);
  broker_.Release("GetRun");
  // What comes after it shows that the late answer was handled.
  v1::ListRunsResponse none;
  broker_.AddAnswer("ListRuns", none);
  Do({{"action", "peek"}}, "call-2");
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(AgentRunsTest, AWaitJoinsWhatIsOpenAndCollectsIt) {
  broker_.AddAnswer("AwaitRuns", Waited({"run-1"}, {"run-2", "run-3"}));
  broker_.AddAnswer("AwaitRuns", Waited({"run-2"}, {"run-3"}));
  broker_.AddAnswer("AwaitRuns", Waited({"run-3"}, {}));
  Initialize();
  const Json result = Do({{"action", "wait"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("3 runs ended: 3 done.\n"));
  EXPECT_EQ(result["ids"], Json({"run-1", "run-2", "run-3"}));
  Notify("results/shown", {{"ids", result["ids"]}});
  ASSERT_TRUE(AwaitTold(3));
  EXPECT_THAT(Told(), ElementsAre("collected run-1", "collected run-2",
                                  "collected run-3"));
  const auto calls = broker_.seen().calls;
  ASSERT_THAT(calls, SizeIs(3));
  EXPECT_THAT(calls[0], Not(HasSubstr("run_ids")));
  EXPECT_THAT(calls[1], AllOf(HasSubstr("\"run-2\""), HasSubstr("\"run-3\""),
                              Not(HasSubstr("\"run-1\""))));
  EXPECT_THAT(calls[2], Not(HasSubstr("\"run-2\"")));
}

TEST_F(AgentRunsTest, AJoinOfMoreThanAReportHoldsCollectsWhatItShows) {
  std::vector<std::string> all;
  for (int i = 1; i <= 64; ++i) all.push_back("run-" + std::to_string(i));
  broker_.AddAnswer("AwaitRuns", Waited({}, all));
  broker_.AddAnswer("AwaitRuns", Waited(all, {}));
  broker_.AddAnswer("AwaitRuns", Waited({"run-41"}, {}));
  Initialize();
  const Json first = Do({{"action", "wait"}}, "call-1");
  const std::string text = first["text"];
  EXPECT_THAT(text, HasSubstr("64 runs ended: 64 done.\n"));
  const auto shown = first["ids"].get<std::vector<std::string>>();
  EXPECT_LT(shown.size(), all.size());
  EXPECT_THAT(text, HasSubstr(std::to_string(all.size() - shown.size()) +
                              " runs more had no room here"));
  // What had no room is brought by the next.
  EXPECT_EQ(Do({{"action", "wait"}}, "call-2")["ids"], Json({"run-41"}));
  EXPECT_THAT(broker_.seen().calls[2], Not(HasSubstr("run_ids")));
}

TEST_F(AgentRunsTest, AWaitTellsHowItGoes) {
  broker_.AddAnswer("AwaitRuns", Waited({}, {"run-1", "run-2"}));
  broker_.AddAnswer("AwaitRuns", Waited({"run-1"}, {"run-2"}));
  broker_.AddAnswer("AwaitRuns", Waited({"run-2"}, {}));
  Initialize();
  Call("call-1", "intercom", {{"action", "wait"}});
  std::vector<std::string> told;
  for (int i = 0; i < 3; ++i) {
    const Json progress = Next("tools/progress")["params"];
    EXPECT_EQ(progress["callId"], "call-1");
    told.push_back(progress["text"]);
  }
  EXPECT_THAT(told[0], HasSubstr("waiting for runs ("));
  EXPECT_THAT(told[1], HasSubstr("waiting for 2 of 2 runs"));
  EXPECT_THAT(told[2], HasSubstr("waiting for 1 of 2 runs"));
  EXPECT_EQ(Result("call-1")["isError"], false);
}

TEST_F(AgentRunsTest, AWaitSurvivesLostConnectionsAndKeepsWhatEnded) {
  broker_.AddAnswer("AwaitRuns", Waited({"run-1"}, {"run-2"}));
  broker_.AddAnswer("AwaitRuns", Waited({}, {"run-2"}));
  Initialize();
  Call("call-1", "intercom", {{"action", "wait"}});
  ASSERT_TRUE(AwaitCalls("AwaitRuns", 2));
  for (int i = 0; i < 2; ++i) {
    broker_.Refuse(
        Error(absl::StatusCode::kUnavailable, "DRAINING", "leaving"));
    broker_.BreakStreams();
    NextSession("connecting");
    broker_.Refuse(absl::OkStatus());
    NextSession("connected");
  }
  broker_.AddAnswer("AwaitRuns", Waited({"run-2"}, {}));
  const Json result = Result("call-1");
  EXPECT_EQ(result["ids"], Json({"run-1", "run-2"}));
}

TEST_F(AgentRunsTest, AQuestionEndsAWaitWithWhatEndedSoFar) {
  v1::AwaitRunsResponse asked = Waited({"run-1"}, {"run-2"});
  asked.mutable_ask()->set_delivery_id("session-3/ask-7");
  asked.mutable_ask()->mutable_asker()->set_name("Builder");
  asked.mutable_ask()->set_preview("which way?");
  broker_.AddAnswer("AwaitRuns", asked);
  Initialize();
  const Json result = Do({{"action", "wait"}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("> all of it"), HasSubstr("id ask-7"),
                    HasSubstr("> which way?"), HasSubstr("run-2")));
  EXPECT_EQ(result["ids"], Json({"run-1"}));
}

TEST_F(AgentRunsTest, ATimeThatIsOverTellsWhatEndedAndWhatDidNot) {
  broker_.AddAnswer("AwaitRuns", Waited({"run-1"}, {"run-2"}));
  broker_.AddAnswer("AwaitRuns", Waited({}, {"run-2"}));
  Initialize();
  const Json result = Do({{"action", "wait"}, {"timeoutMs", 1}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("Not over yet after 1s: run-2"));
  EXPECT_EQ(result["ids"], Json({"run-1"}));
}

TEST_F(AgentRunsTest, AWaitThatIsGivenUpCollectsNothing) {
  broker_.AddAnswer("AwaitRuns", Waited({"run-1"}, {"run-2"}));
  broker_.AddAnswer("AwaitRuns", Waited({}, {"run-2"}));
  Initialize();
  Call("call-1", "intercom", {{"action", "wait"}});
  ASSERT_TRUE(AwaitCalls("AwaitRuns", 3));
  Notify("tools/cancel", {{"callId", "call-1"}});
  const Json result = Result("call-1");
  EXPECT_EQ(result["reason"], "WAIT_STOPPED");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("run-1"), HasSubstr("run-2")));
  EXPECT_FALSE(result.contains("ids"));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(AgentRunsTest, AWaitThatWouldCloseACycleIsRefused) {
  broker_.AddError("AwaitRuns", Error(absl::StatusCode::kFailedPrecondition,
                                      "WAIT_CYCLE", "Builder waits for you"));
  Initialize();
  EXPECT_EQ(Do({{"action", "wait"}, {"runId", "run-1"}})["reason"],
            "WAIT_CYCLE");
}

TEST_F(AgentRunsTest, AStopAndItsRepeatAfterAnAgentsDeathAreOneRequest) {
  v1::StopRunResponse response;
  *response.mutable_run() = RunOf("run-1", v1::Run::STATE_RUNNING);
  broker_.AddAnswer("StopRun", response);
  Initialize();
  for (const bool repeated : {false, true}) {
    Call("call-7", "intercom", {{"action", "stop"}, {"to", "run-1"}}, repeated);
    EXPECT_THAT(Result("call-7")["text"],
                HasSubstr("Cancellation of run-1 was asked"));
  }
  const std::string call = "StopRun run_id: \"run-1\" request_id: \"call-7\"";
  EXPECT_THAT(broker_.seen().calls, ElementsAre(call, call));
}

TEST_F(AgentRunsTest, AStopWhoseAnswerIsLostIsNotRepeated) {
  Initialize();
  broker_.BreakCalls(1);
  const Json result = Do({{"action", "stop"}, {"runId", "run-1"}});
  EXPECT_EQ(result["reason"], "OUTCOME_UNKNOWN");
  EXPECT_THAT(result["text"].get<std::string>(), HasSubstr("peek shows it"));
  EXPECT_THAT(broker_.seen().calls, SizeIs(1));
}

TEST_F(AgentRunsTest, SteeringIsAMessageToTheRun) {
  Initialize();
  const Json result =
      Do({{"action", "steer"}, {"runId", "run-1"}, {"message", "left"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("Sent to the worker of run-1"));
  const v1::Submit submit = broker_.seen().Submits().at(0);
  EXPECT_EQ(submit.to_run(), "run-1");
  EXPECT_EQ(submit.envelope().text(), "left");
}

TEST_F(AgentRunsTest, ASendOpensARunAndNamesIt) {
  v1::DeliveryRecord accepted;
  accepted.set_run_id("run-1");
  broker_.SetAccepted(accepted);
  Initialize();
  const Json result = Do({{"action", "send"},
                          {"to", "Builder"},
                          {"message", "go"},
                          {"label", "parser"}});
  EXPECT_EQ(result["details"]["runId"], "run-1");
  EXPECT_EQ(broker_.seen().Submits().at(0).run().label(), "parser");
}

v1::DrainInboxResponse Notes(const std::vector<std::string>& ids) {
  v1::DrainInboxResponse inbox;
  for (const auto& id : ids) {
    inbox.add_notes()->set_note_id(id);
    inbox.mutable_notes(inbox.notes_size() - 1)->set_text("text of " + id);
  }
  return inbox;
}

TEST_F(AgentRunsTest, TheInboxIsDrainedUnderTheCall) {
  broker_.AddAnswer("DrainInbox call-1", Notes({"n-1"}));
  Initialize();
  EXPECT_THAT(Do({{"action", "inbox"}})["text"].get<std::string>(),
              HasSubstr("> text of n-1"));
  EXPECT_THAT(broker_.seen().calls,
              ElementsAre("DrainInbox call-1 drain_id: \"call-1\""));
}

v1::DrainInboxResponse After(v1::DrainInboxResponse inbox,
                             const std::vector<std::string>& earlier) {
  for (const auto& id : earlier) inbox.add_earlier_drain_ids(id);
  return inbox;
}

TEST_F(AgentRunsTest, NotesOfADrainThatIsNoEntryComeAgainAndThatIsSaid) {
  broker_.AddAnswer("DrainInbox call-1",
                    After(Notes({"n-3"}), {"seen", "killed", "older"}));
  broker_.AddAnswer("DrainInbox killed", Notes({"n-1"}));
  broker_.AddAnswer("DrainInbox older", Notes({"n-2"}));
  Initialize();
  Call("call-1", "intercom", {{"action", "inbox"}});
  const Json asked = Next("told");
  EXPECT_EQ(asked["params"]["ids"],
            Json({"drain/seen", "drain/killed", "drain/older"}));
  Respond(asked, {{"told", {"drain/seen"}}});
  const Json result = Result("call-1");
  const std::string text = result["text"];
  EXPECT_THAT(text,
              AllOf(HasSubstr("2 notes come again"), HasSubstr("> text of n-1"),
                    HasSubstr("> text of n-2"), HasSubstr("> text of n-3")));
  EXPECT_LT(text.find("n-1"), text.find("n-3"));
  EXPECT_EQ(result["ids"],
            Json({"drain/killed", "drain/older", "drain/call-1"}));
}

TEST_F(AgentRunsTest, WhatAHostCantTellOfADrainComesAgain) {
  broker_.AddAnswer("DrainInbox call-1", After({}, {"killed"}));
  broker_.AddAnswer("DrainInbox killed", Notes({"n-1"}));
  Initialize();
  Call("call-1", "intercom", {{"action", "inbox"}});
  const Json asked = Next("told");
  Write({{"jsonrpc", "2.0"},
         {"id", asked["id"]},
         {"error", {{"code", -32601}, {"message", "no such request"}}}});
  EXPECT_THAT(Result("call-1")["text"].get<std::string>(),
              HasSubstr("> text of n-1"));
}

TEST_F(AgentRunsTest, ADrainWhoseResultIsOnItsWayIsNotRepeatedAndALostOneIs) {
  broker_.AddAnswer("DrainInbox call-1", Notes({"n-1"}));
  broker_.AddAnswer("DrainInbox call-2", After({}, {"call-1"}));
  broker_.AddAnswer("DrainInbox call-3", After({}, {"call-1"}));
  Initialize();
  EXPECT_EQ(Do({{"action", "inbox"}}, "call-1")["ids"], Json({"drain/call-1"}));
  EXPECT_EQ(Do({{"action", "inbox"}}, "call-2")["text"],
            "The inbox is empty.\n");
  Notify("results/lost", {{"ids", {"drain/call-1"}}});
  Call("call-3", "intercom", {{"action", "inbox"}});
  Respond(Next("told"), {{"told", Json::array()}});
  EXPECT_THAT(Result("call-3")["text"].get<std::string>(),
              HasSubstr("> text of n-1"));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(AgentRunsTest, ADrainWhoseCallWasCancelledComesAgain) {
  broker_.AddAnswer("DrainInbox call-1", Notes({"n-1"}));
  broker_.AddAnswer("DrainInbox call-2", After(Notes({"n-2"}), {"call-1"}));
  broker_.Hold("DrainInbox call-1");
  Initialize();
  Call("call-1", "intercom", {{"action", "inbox"}});
  ASSERT_TRUE(AwaitCalls("DrainInbox call-1", 1));
  Notify("tools/cancel", {{"callId", "call-1"}});
  Result("call-1");
  broker_.Release("DrainInbox call-1");
  // What comes after it shows that the late answer was handled.
  broker_.AddAnswer("ListRuns", v1::ListRunsResponse());
  Do({{"action", "peek"}}, "call-9");
  Call("call-2", "intercom", {{"action", "inbox"}});
  Respond(Next("told"), {{"told", Json::array()}});
  EXPECT_THAT(Result("call-2")["text"].get<std::string>(),
              AllOf(HasSubstr("> text of n-1"), HasSubstr("> text of n-2")));
}

TEST_F(AgentRunsTest, OneNoteIsGivenWhole) {
  v1::GetNoteResponse response;
  response.mutable_note()->set_note_id("n-1");
  response.mutable_note()->set_text("all of the note");
  broker_.AddAnswer("GetNote", response);
  Initialize();
  EXPECT_THAT(Do({{"action", "message"}, {"messageId", "n-1"}})["text"]
                  .get<std::string>(),
              HasSubstr("> all of the note"));
}

TEST_F(AgentRunsTest, AModelsToolIsTheHosts) {
  Initialize();
  Call("call-1", "intercom_models", Json::object());
  EXPECT_EQ(Result("call-1")["reason"], "HOST_TOOL");
}

TEST_F(AgentRunsTest, WhoHasRunsGetsTheActionsThatFollowThem) {
  EXPECT_FALSE(HasAction(Initialize(), "peek"));
  SendNews({}, 1);
  EXPECT_TRUE(HasAction(NextSession("connected"), "peek"));
}

TEST_F(AgentRunsTest, ACoordinatorAlwaysHasThem) {
  v1::Welcome welcome;
  welcome.set_role(v1::ROLE_COORDINATOR);
  welcome.add_operations("peer.send");
  broker_.SetWelcome(welcome);
  EXPECT_TRUE(HasAction(Initialize(), "peek"));
}

TEST_F(AgentRunsTest, AnEndIsABulletinAndToldOnceItIsInTheSession) {
  Initialize();
  SendNews({"run-1"}, 0);
  const Json bulletin = Next("bulletin")["params"];
  EXPECT_EQ(bulletin["topic"], "runs");
  EXPECT_EQ(bulletin["ids"], Json({"run-1"}));
  Notify("bulletin/shown", {{"topic", "runs"}, {"key", bulletin["key"]}});
  ASSERT_TRUE(AwaitTold(1));
  EXPECT_THAT(Told(), ElementsAre("announced run-1"));
}

TEST_F(AgentRunsTest, WhatAWaitCollectedIsTakenOutOfTheBulletin) {
  broker_.AddAnswer("AwaitRuns", Waited({"run-1"}, {}));
  Initialize();
  SendNews({"run-1"}, 0);
  EXPECT_EQ(Next("bulletin")["params"]["ids"], Json({"run-1"}));
  EXPECT_EQ(Do({{"action", "wait"}})["ids"], Json({"run-1"}));
  Notify("results/shown", {{"ids", {"run-1"}}});
  EXPECT_EQ(Next("bulletin")["params"]["key"], "");
  ASSERT_TRUE(AwaitTold(1));
  EXPECT_THAT(Told(), ElementsAre("collected run-1"));
}

TEST_F(AgentRunsTest, AWorkerOfARunReachesItsSupervisorAndItsFellows) {
  EXPECT_THAT(NamesOf(Initialize()), Not(Contains("contact_supervisor")));
  SendOpenRuns({"run-7"});
  EXPECT_EQ(Next("runs")["params"]["open"][0]["runId"], "run-7");
  EXPECT_THAT(NamesOf(NextSession("connected")),
              AllOf(Contains("contact_supervisor"), Contains("contact_peer")));
  SendOpenRuns({});
  EXPECT_THAT(NamesOf(NextSession("connected")),
              AllOf(Not(Contains("contact_supervisor")),
                    Not(Contains("contact_peer"))));
}

TEST_F(AgentRunsTest, ADecisionGoesToTheSupervisorsSession) {
  v1::AwaitReplyResponse answer;
  answer.mutable_ask()->set_state(v1::Ask::STATE_ANSWERED);
  answer.mutable_reply()->set_delivery_id("session-2/r-1");
  answer.mutable_reply()->mutable_envelope()->set_text("left");
  answer.mutable_reply()->mutable_sender()->set_name("planner");
  broker_.AddAnswer("AwaitReply call-1", answer);
  Initialize();
  SendOpenRuns({"run-7"});
  Next("runs");
  Call("call-1", "contact_supervisor",
       {{"reason", "need_decision"}, {"message", "which way?"}});
  EXPECT_THAT(Result("call-1")["text"].get<std::string>(), HasSubstr("> left"));
  const v1::Submit submit = broker_.seen().Submits().at(0);
  EXPECT_EQ(submit.to(), "session-2");
  EXPECT_EQ(submit.envelope().kind(), v1::ENVELOPE_KIND_ASK);
  EXPECT_THAT(submit.envelope().text(), HasSubstr("The worker of run-7"));
}

TEST_F(AgentRunsTest, AProgressUpdateIsANoteThatWaits) {
  v1::AddNoteResponse noted;
  noted.set_supervisor_name("planner");
  broker_.AddAnswer("AddNote", noted);
  Initialize();
  SendOpenRuns({"run-7"});
  Next("runs");
  Call("call-1", "contact_supervisor",
       {{"reason", "progress_update"}, {"message", "found it"}});
  EXPECT_THAT(Result("call-1")["text"].get<std::string>(),
              HasSubstr("Noted for planner"));
  EXPECT_THAT(broker_.seen().calls,
              ElementsAre("AddNote note_id: \"call-1\" run_id: \"run-7\" text: "
                          "\"found it\""));
  EXPECT_THAT(broker_.seen().Submits(), IsEmpty());
}

TEST_F(AgentRunsTest, AFellowIsWrittenToOneWay) {
  Initialize();
  SendOpenRuns({"run-7"});
  Next("runs");
  Call("call-1", "contact_peer", {{"to", "parser"}, {"message", "x"}});
  EXPECT_EQ(Result("call-1")["isError"], false);
  EXPECT_TRUE(broker_.seen().Submits().at(0).to_fellow());
}

TEST_F(AgentRunsTest, TheWorkersHostTellsHowARunGoes) {
  Initialize();
  Notify("run", {{"deliveryId", "session-2/m-1"},
                 {"event", "done"},
                 {"turns", 2},
                 {"text", "all"}});
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kRunEvent) == 1;
  }));
}

TEST_F(AgentRunsTest, WhetherRunsAreTakenIsToldAtOnceAndWithEachAttachment) {
  Initialize({{"refusesRuns", true}, {"runsKept", 30}});
  EXPECT_TRUE(broker_.seen().Hellos().at(0).refuses_runs());
  EXPECT_EQ(broker_.seen().Hellos().at(0).runs_kept(), 30);
  Notify("runs/policy", {{"refused", false}});
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kRunPolicy) == 1;
  }));
  broker_.BreakStreams();
  NextSession("connecting");
  NextSession("connected");
  EXPECT_FALSE(broker_.seen().Hellos().at(1).refuses_runs());
}

TEST_F(AgentRunsTest, WhatInitializeSaysOfRunsIsChecked) {
  for (const char* key : {"runsKept", "mostHeadless"}) {
    Request("init", "initialize",
            {{"protocolVersion", 1},
             {"sessionId", "session-1"},
             {"cwd", "/home/ada"},
             {"host", {{"kind", "pi"}, {"version", "1"}, {"pid", getpid()}}},
             {key, 0}});
    const Json answer = Next("init");
    EXPECT_THAT(answer["error"]["message"].get<std::string>(),
                HasSubstr(std::string(key) + " must be 1 to"));
  }
}

}  // namespace
}  // namespace intercom
