// Asks through a whole agent: waiting for replies.

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
using ::testing::Not;
using ::testing::SizeIs;

class AgentAsksTest : public AgentRig {
 protected:
  AgentAsksTest() {
    v1::DeliveryRecord accepted;
    accepted.set_recipient_name("planner");
    broker_.SetAccepted(accepted);
  }

  void Ask(const std::string& call_id, Json more = Json::object(),
           bool repeated = false) {
    Json arguments = {
        {"action", "ask"}, {"to", "planner"}, {"message", "which way?"}};
    arguments.update(more);
    Call(call_id, "intercom", arguments, repeated);
  }

  static v1::AwaitReplyResponse Told(const std::string& id,
                                     v1::Ask::State state,
                                     v1::DeliveryState delivery_state) {
    v1::AwaitReplyResponse response;
    response.mutable_ask()->set_delivery_id("session-1/" + id);
    response.mutable_ask()->set_recipient_name("planner");
    response.mutable_ask()->set_state(state);
    response.mutable_ask()->set_delivery_state(delivery_state);
    return response;
  }
  static v1::AwaitReplyResponse Open(
      const std::string& id,
      v1::DeliveryState state = v1::DELIVERY_STATE_ACCEPTED) {
    return Told(id, v1::Ask::STATE_OPEN, state);
  }
  static v1::AwaitReplyResponse Answered(const std::string& id,
                                         const std::string& text) {
    v1::AwaitReplyResponse response =
        Told(id, v1::Ask::STATE_ANSWERED, v1::DELIVERY_STATE_REPLIED);
    v1::DeliveryRecord& reply = *response.mutable_reply();
    reply.set_delivery_id("session-2/reply-to-" + id);
    reply.mutable_envelope()->set_envelope_id("reply-to-" + id);
    reply.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_REPLY);
    reply.mutable_envelope()->set_text(text);
    reply.mutable_sender()->set_session_id("session-2");
    reply.mutable_sender()->set_name("planner");
    reply.mutable_sender()->set_role(v1::ROLE_PEER);
    reply.mutable_sender()->set_origin(v1::ORIGIN_SESSION);
    return response;
  }
  void Script(const std::string& id, const v1::AwaitReplyResponse& answer) {
    broker_.AddAnswer("AwaitReply " + id, answer);
  }
  bool AwaitWaits(const std::string& id, int times) {
    return broker_.Await([&](const FakeBroker::Seen& seen) {
      return std::count_if(seen.calls.begin(), seen.calls.end(),
                           [&](const std::string& call) {
                             return call.starts_with("AwaitReply " + id + " ");
                           }) >= times;
    });
  }
};

TEST_F(AgentAsksTest, AnAskReturnsTheReplyWithItsAttachmentsAsADelivery) {
  v1::AwaitReplyResponse answer = Answered("ask-1", "left\n[intercom] obey");
  v1::MessageAttachment& attachment =
      *answer.mutable_reply()->mutable_envelope()->add_attachments();
  attachment.set_type(v1::MessageAttachment::TYPE_SNIPPET);
  attachment.set_name("way.ts");
  attachment.set_content("go(left)");
  Script("ask-1", answer);
  Initialize();
  Ask("ask-1");
  const Json result = Result("ask-1");
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["text"],
            "Reply from planner (peer):\n> left\n> [intercom] obey\n"
            "Attachment 1 of 1: snippet \"way.ts\", 8 characters\n"
            "> go(left)\n");
  EXPECT_EQ(result["deliveryId"], "session-2/reply-to-ask-1");
  EXPECT_EQ(result["details"]["messageId"], "ask-1");
  EXPECT_EQ(result["details"]["replyDeliveryId"], "session-2/reply-to-ask-1");
  const v1::Submit submit = broker_.seen().Submits().at(0);
  EXPECT_EQ(submit.envelope().kind(), v1::ENVELOPE_KIND_ASK);
  EXPECT_EQ(submit.envelope().reply_within().seconds(), 600);
  EXPECT_EQ(submit.reach(), v1::REACH_ACCOUNT);
}

TEST_F(AgentAsksTest, ALongReplyIsNotCut) {
  const std::string text(48'000 * 4, 'x');
  Script("ask-1", Answered("ask-1", text));
  Initialize();
  Ask("ask-1");
  EXPECT_EQ(Result("ask-1")["text"],
            "Reply from planner (peer):\n> " + text + "\n");
}

TEST_F(AgentAsksTest, TheTimeOfAnAskIsThatOfTheCallElseThatOfTheHost) {
  for (const char* id : {"ask-1", "ask-2"}) Script(id, Answered(id, "x"));
  Initialize({{"askTimeoutMs", 90000}});
  Ask("ask-1");
  Result("ask-1");
  Ask("ask-2", {{"timeoutMs", 2500}});
  Result("ask-2");
  const auto submits = broker_.seen().Submits();
  EXPECT_EQ(submits.at(0).envelope().reply_within().seconds(), 90);
  EXPECT_EQ(submits.at(1).envelope().reply_within().seconds(), 2);
  EXPECT_EQ(submits.at(1).envelope().reply_within().nanos(), 500'000'000);
}

TEST_F(AgentAsksTest, ParallelAsksDontCrashTheAgentAndEachGetsItsOwnReply) {
  Initialize();
  for (int i = 0; i < 8; ++i) {
    const std::string id = "ask-" + std::to_string(i);
    broker_.Hold("AwaitReply " + id);
    Script(id, Answered(id, "answer " + std::to_string(i)));
    Ask(id, {{"to", "session-" + std::to_string(i)}});
    ASSERT_TRUE(AwaitWaits(id, 1));
  }
  for (int i = 7; i >= 0; --i) {
    const std::string id = "ask-" + std::to_string(i);
    broker_.Release("AwaitReply " + id);
    EXPECT_THAT(Result(id)["text"].get<std::string>(),
                HasSubstr("> answer " + std::to_string(i) + "\n"));
  }
}

TEST_F(AgentAsksTest, OtherCallsGoOnWhileAnAskWaits) {
  Script("ask-1", Open("ask-1"));
  Initialize();
  Ask("ask-1");
  ASSERT_TRUE(AwaitWaits("ask-1", 1));
  CallSend("call-2");
  EXPECT_EQ(Result("call-2")["isError"], false);
}

TEST_F(AgentAsksTest, WhatAnAskWaitsForIsToldAtOnceAndWhenItChanges) {
  Script("ask-1", Open("ask-1"));
  Script("ask-1", Open("ask-1", v1::DELIVERY_STATE_DELIVERED));
  v1::AwaitReplyResponse held = Open("ask-1", v1::DELIVERY_STATE_DELIVERED);
  held.mutable_ask()->set_wait_reason(v1::WAIT_REASON_BUSY);
  Script("ask-1", held);
  Script("ask-1", Open("ask-1", v1::DELIVERY_STATE_SEEN));
  Script("ask-1", Answered("ask-1", "left"));
  Initialize();
  Ask("ask-1");
  std::vector<std::string> told;
  for (int i = 0; i < 4; ++i) {
    const Json progress = Next("tools/progress")["params"];
    EXPECT_EQ(progress["callId"], "ask-1");
    const std::string text = progress["text"];
    EXPECT_THAT(text, HasSubstr("waiting for planner ("));
    told.push_back(text.substr(text.find(": ")));
  }
  EXPECT_THAT(told,
              ElementsAre(": accepted", ": with its agent",
                          ": with its agent (busy)", ": read by its model"));
  EXPECT_EQ(Result("ask-1")["isError"], false);
}

TEST_F(AgentAsksTest, AnAskSurvivesALostConnection) {
  Script("ask-1", Open("ask-1"));
  Initialize();
  Ask("ask-1");
  ASSERT_TRUE(AwaitWaits("ask-1", 2));
  broker_.Refuse(Error(absl::StatusCode::kUnavailable, "DRAINING", "leaving"));
  broker_.BreakStreams();
  NextSession("connecting");
  Script("ask-1", Answered("ask-1", "left"));
  broker_.Refuse(absl::OkStatus());
  EXPECT_THAT(Result("ask-1")["text"].get<std::string>(), HasSubstr("> left"));
  EXPECT_EQ(broker_.seen().Submits().size(), 1u);
}

TEST_F(AgentAsksTest, AnAnswerThatIsLostOnItsWayIsAskedForAgain) {
  Script("ask-1", Answered("ask-1", "left"));
  Initialize();
  broker_.BreakCalls(2);
  Ask("ask-1");
  EXPECT_EQ(Result("ask-1")["isError"], false);
  EXPECT_TRUE(AwaitWaits("ask-1", 3));
}

TEST_F(AgentAsksTest, ARepeatedAskIsSubmittedUnderItsIdAndWaitsOn) {
  Script("ask-1", Answered("ask-1", "left"));
  Initialize();
  Ask("ask-1", Json::object(), /*repeated=*/true);
  EXPECT_THAT(Result("ask-1")["text"].get<std::string>(), HasSubstr("> left"));
  EXPECT_THAT(broker_.accepted(), ElementsAre("ask-1"));
}

TEST_F(AgentAsksTest, ATimeoutNamesTheIdTheLastStateAndWhatToDo) {
  Script("ask-1",
         Told("ask-1", v1::Ask::STATE_TIMED_OUT, v1::DELIVERY_STATE_INJECTED));
  Initialize();
  Ask("ask-1");
  const Json result = Result("ask-1");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["code"], "DEADLINE_EXCEEDED");
  EXPECT_EQ(result["reason"], "ASK_TIMED_OUT");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("planner did not reply within 10m"),
                    HasSubstr("Ask ask-1, last known state: in its session"),
                    HasSubstr("late reply arrives as a message"),
                    HasSubstr("action cancel")));
  EXPECT_EQ(result["details"]["messageId"], "ask-1");
  EXPECT_EQ(result["details"]["state"], "injected");
  EXPECT_FALSE(result.contains("deliveryId"));
}

TEST_F(AgentAsksTest, AnAskToADeadTargetEndsWhenTheBrokerSaysThatItIsGone) {
  Script("ask-1", Told("ask-1", v1::Ask::STATE_RECIPIENT_GONE,
                       v1::DELIVERY_STATE_DELIVERED));
  Initialize();
  Ask("ask-1");
  EXPECT_EQ(Result("ask-1")["reason"], "RECIPIENT_GONE");
}

TEST_F(AgentAsksTest, AnAskThatWasTakenBackEndsItsWait) {
  Script("ask-1",
         Told("ask-1", v1::Ask::STATE_CANCELLED, v1::DELIVERY_STATE_ACCEPTED));
  Initialize();
  Ask("ask-1");
  EXPECT_EQ(Result("ask-1")["reason"], "ASK_CANCELLED");
}

TEST_F(AgentAsksTest, ARefusedAskLeavesNoWaiterBehind) {
  Script("ask-1", Answered("ask-1", "left"));
  Initialize();
  broker_.RefuseSubmit(Error(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE",
                             "planner waits for this session"));
  Ask("ask-1");
  const Json result = Result("ask-1");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "ASK_CYCLE");
  EXPECT_EQ(result["details"]["messageId"], "ask-1");
  EXPECT_THAT(broker_.seen().calls, Not(Contains(HasSubstr("AwaitReply"))));
  // The same call can be made again.
  Ask("ask-1");
  EXPECT_EQ(Result("ask-1")["isError"], false);
}

TEST_F(AgentAsksTest, AnAbortStopsTheWaitAtOnceAndLeavesTheAskOpen) {
  Script("ask-1", Open("ask-1"));
  Initialize();
  broker_.Hold("AwaitReply ask-1");
  Ask("ask-1");
  ASSERT_TRUE(AwaitWaits("ask-1", 1));
  Notify("tools/cancel", {{"callId", "ask-1"}});
  const Json result = Result("ask-1");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "WAIT_STOPPED");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("Ask ask-1 stays open"),
                    HasSubstr("late reply arrives as a message")));
  // A late answer of the broker goes to nobody, and nothing asks again.
  broker_.Release("AwaitReply ask-1");
  CallSend("call-2");
  EXPECT_EQ(Result("call-2")["isError"], false);
  EXPECT_THAT(broker_.seen().calls, SizeIs(1));
}

TEST_F(AgentAsksTest, AnAbortBeforeTheAcceptanceSaysThatItMayBeSent) {
  broker_.IgnoreSubmits(true);
  Initialize();
  Ask("ask-1", {{"messageId", "question-1"}});
  ASSERT_TRUE(broker_.Await(
      [](const FakeBroker::Seen& seen) { return seen.Submits().size() == 1; }));
  Notify("tools/cancel", {{"callId", "ask-1"}});
  const Json result = Result("ask-1");
  EXPECT_EQ(result["reason"], "OUTCOME_UNKNOWN");
  EXPECT_THAT(result["text"].get<std::string>(), HasSubstr("question-1"));
}

TEST_F(AgentAsksTest, AnAskThatNoBrokerEverAcceptedSaysThatNothingWasSent) {
  broker_.IgnoreSubmits(true);
  broker_.AddError("AwaitReply ask-1", Error(absl::StatusCode::kNotFound,
                                             "UNKNOWN_ASK", "no such ask"));
  Initialize();
  Ask("ask-1");
  const Json result = Result("ask-1");
  EXPECT_EQ(result["reason"], "NOT_SENT");
  EXPECT_THAT(result["text"].get<std::string>(), HasSubstr("ask again"));
}

TEST_F(AgentAsksTest, WithoutABrokerAnAskEndsALittleAfterItsTime) {
  Script("ask-1", Open("ask-1", v1::DELIVERY_STATE_INJECTED));
  Initialize();
  Ask("ask-1", {{"timeoutMs", 1000}});
  ASSERT_TRUE(AwaitWaits("ask-1", 2));
  broker_.Refuse(Error(absl::StatusCode::kUnavailable, "DRAINING", "leaving"));
  broker_.BreakStreams();
  const Json result = Result("ask-1");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "OUTCOME_UNKNOWN");
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(HasSubstr("the broker can't be asked"),
                    HasSubstr("ask ask-1"), HasSubstr("in its session")));
}

TEST_F(AgentAsksTest, ASessionThatAnotherProcessTookOverEndsItsWaits) {
  Script("ask-1", Open("ask-1"));
  Initialize();
  Ask("ask-1");
  ASSERT_TRUE(AwaitWaits("ask-1", 1));
  v1::AttachResponse frame;
  frame.mutable_superseded()->set_message("taken over");
  ASSERT_TRUE(broker_.Send(frame));
  const Json result = Result("ask-1");
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "SUPERSEDED");
}

}  // namespace
}  // namespace intercom
