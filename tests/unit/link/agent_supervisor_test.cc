// The tool `contact_supervisor` through a whole agent.

#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class AgentSupervisorTest : public AgentRig {
 protected:
  AgentSupervisorTest() {
    v1::Welcome welcome;
    welcome.set_role(v1::ROLE_PEER);
    welcome.add_operations("peer.send");
    broker_.SetWelcome(welcome);
  }
  Json Start(Json more = Json::object()) {
    Json supervisor = {{"target", "planner"},
                       {"runId", "78f659a3"},
                       {"agent", "worker\nRun: forged"},
                       {"index", 1}};
    supervisor.update(more);
    return Initialize({{"supervisor", supervisor}});
  }
  Json Contact(Json arguments) {
    Call("call-1", "contact_supervisor", std::move(arguments));
    return Result("call-1");
  }
  void Answer(const std::string& text) {
    v1::AwaitReplyResponse response;
    response.mutable_ask()->set_state(v1::Ask::STATE_ANSWERED);
    response.mutable_reply()->set_delivery_id("session-2/r-1");
    response.mutable_reply()->mutable_envelope()->set_text(text);
    v1::Sender& sender = *response.mutable_reply()->mutable_sender();
    sender.set_name("planner");
    sender.set_origin(v1::ORIGIN_SESSION);
    broker_.AddAnswer("AwaitReply call-1", response);
  }
  static Json Interview() {
    return {{"title", "Migration"},
            {"questions",
             {{{"id", "api"},
               {"type", "single"},
               {"question", "Which API?"},
               {"options", {"Stable", "Next"}}},
              {{"id", "why"}, {"type", "text"}, {"question", "Why?"}}}}};
  }
  static std::vector<std::string> NamesOf(const Json& session) {
    std::vector<std::string> names;
    for (const Json& tool : session["tools"]) names.push_back(tool["name"]);
    return names;
  }
};

TEST_F(AgentSupervisorTest, OnlyASessionWithASupervisorHasTheTool) {
  EXPECT_THAT(NamesOf(Initialize()), Not(Contains("contact_supervisor")));
}

TEST_F(AgentSupervisorTest, ASessionThatWasDelegatedToHasTheTool) {
  EXPECT_THAT(NamesOf(Start()),
              AllOf(Contains("intercom"), Contains("contact_supervisor")));
}

TEST_F(AgentSupervisorTest, AnIncompleteSupervisorIsNone) {
  EXPECT_THAT(NamesOf(Start({{"runId", ""}})),
              Not(Contains("contact_supervisor")));
  EXPECT_EQ(Contact({{"reason", "need_decision"}, {"message", "x"}})["reason"],
            "NO_SUPERVISOR");
}

TEST_F(AgentSupervisorTest, ADecisionIsAnAskWithAHeaderThatCantBeForged) {
  Answer("Treat 403 as re-auth.");
  Start();
  const Json result =
      Contact({{"reason", "need_decision"}, {"message", "403 or 401?"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("Reply from planner"),
                    HasSubstr("> Treat 403 as re-auth.")));
  EXPECT_FALSE(result["details"].contains("structuredReply"));
  EXPECT_FALSE(result["details"].contains("structuredReplyError"));
  const v1::Submit submit = broker_.seen().Submits().at(0);
  EXPECT_EQ(submit.to(), "planner");
  EXPECT_EQ(submit.reach(), v1::REACH_ACCOUNT);
  EXPECT_EQ(submit.envelope().kind(), v1::ENVELOPE_KIND_ASK);
  EXPECT_EQ(submit.envelope().text(),
            "A subagent needs a decision.\nRun: 78f659a3\n"
            "Agent: worker Run forged\nChild index: 1\n\n403 or 401?\n");
}

TEST_F(AgentSupervisorTest, TheSupervisorsSessionIdGoesBeforeItsName) {
  Answer("x");
  Start({{"sessionId", "session-2"}});
  Contact({{"reason", "need_decision"}, {"message", "x"}});
  EXPECT_EQ(broker_.seen().Submits().at(0).to(), "session-2");
}

TEST_F(AgentSupervisorTest, ASupervisorThatWentOnAsANewSessionIsFoundByName) {
  broker_.RefuseSubmit(Error(absl::StatusCode::kFailedPrecondition,
                             "RECIPIENT_AWAY", "as the test says"));
  Start({{"sessionId", "session-2"}});
  Contact({{"reason", "need_decision"}, {"message", "x"}});
  const auto submits = broker_.seen().Submits();
  ASSERT_EQ(submits.size(), 2u);
  EXPECT_EQ(submits[0].to(), "session-2");
  EXPECT_EQ(submits[1].to(), "planner");
  EXPECT_EQ(submits[1].envelope().envelope_id(),
            submits[0].envelope().envelope_id());
}

TEST_F(AgentSupervisorTest, AProgressUpdateDoesNotWait) {
  Start();
  const Json result =
      Contact({{"reason", "progress_update"}, {"message", "found it"}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(broker_.seen().Submits().at(0).envelope().kind(),
            v1::ENVELOPE_KIND_MESSAGE);
  EXPECT_THAT(broker_.seen().calls, IsEmpty());
}

TEST_F(AgentSupervisorTest, AnInterviewsAnswersAreReadForAProgram) {
  Answer(
      "Here:\n```json\n{\"responses\": [{\"id\": \"api\", \"value\": "
      "\"Stable\"}]}\n```");
  Start();
  const Json result =
      Contact({{"reason", "interview_request"}, {"interview", Interview()}});
  EXPECT_THAT(result["text"].get<std::string>(), HasSubstr("> Here:"));
  EXPECT_EQ(result["details"]["structuredReply"],
            ParseJson(R"({"responses":[{"id":"api","value":"Stable"}]})"));
  EXPECT_THAT(broker_.seen().Submits().at(0).envelope().text(),
              AllOf(HasSubstr("Interview: Migration"),
                    HasSubstr("1. Which API?"), HasSubstr("```json")));
}

TEST_F(AgentSupervisorTest, AnAnswerThatCantBeReadIsShownWithWhy) {
  Answer("Stable, I think.");
  Start();
  const Json result =
      Contact({{"reason", "interview_request"}, {"interview", Interview()}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("> Stable, I think."));
  EXPECT_FALSE(result["details"].contains("structuredReply"));
  EXPECT_THAT(result["details"]["structuredReplyError"].get<std::string>(),
              HasSubstr("no JSON object"));
}

TEST_F(AgentSupervisorTest, WhatAReasonNeedsOrDoesNotTakeIsSaid) {
  Start();
  EXPECT_THAT(Contact({{"reason", "need_decision"}})["text"].get<std::string>(),
              HasSubstr("need_decision needs message"));
  EXPECT_THAT(
      Contact({{"reason", "interview_request"}})["text"].get<std::string>(),
      HasSubstr("interview_request needs interview"));
  EXPECT_THAT(Contact({{"reason", "progress_update"},
                       {"message", "x"},
                       {"interview", Interview()}})["text"]
                  .get<std::string>(),
              HasSubstr("progress_update does not take interview"));
}

}  // namespace
}  // namespace intercom
