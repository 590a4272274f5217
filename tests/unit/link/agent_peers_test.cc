// The tool `intercom`, but for asks, and what the host itself asks and is told
// of other sessions, through a whole agent.

#include <filesystem>
#include <string>

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
using ::testing::StartsWith;

class AgentPeersTest : public AgentRig {
 protected:
  // The result of one call of `intercom`.
  Json Talk(Json arguments, const std::string& trigger = "") {
    const std::string id = "call-" + std::to_string(++calls_);
    Request(id, "tools/call",
            {{"name", "intercom"},
             {"callId", id},
             {"trigger", trigger},
             {"arguments", std::move(arguments)}});
    return Result(id);
  }
  void Accept(v1::EnvelopeKind kind, const std::string& reply_to) {
    v1::DeliveryRecord more;
    more.set_recipient_name("planner");
    more.mutable_envelope()->set_kind(kind);
    more.mutable_envelope()->set_reply_to(reply_to);
    broker_.SetAccepted(more);
  }
  static v1::ListSessionsResponse TwoSessions() {
    v1::ListSessionsResponse response;
    v1::RosterEntry& self = *response.mutable_self();
    self.set_session_id("session-1");
    self.set_short_id("session-1");
    self.set_presence(v1::PRESENCE_ATTACHED);
    self.set_cwd("/home/ada/space");
    v1::RosterEntry& other = *response.add_sessions();
    other.set_session_id("session-2");
    other.set_short_id("session-2");
    other.set_name("planner");
    other.set_presence(v1::PRESENCE_ATTACHED);
    return response;
  }
  std::string Directory() const { return home_.path().string(); }

  int calls_ = 0;
};

TEST_F(AgentPeersTest, AMessageSaysWhereItIs) {
  broker_.SetWaitReason(v1::WAIT_REASON_AWAY);
  Initialize();
  const Json result =
      Talk({{"action", "send"}, {"to", "planner"}, {"message", "done"}});
  EXPECT_EQ(result["isError"], false);
  EXPECT_EQ(result["text"],
            "Message sent to planner: accepted, id call-1.\n"
            "queued: planner is away; it is delivered when that session "
            "returns.\n");
  EXPECT_EQ(result["details"],
            Json({{"messageId", "call-1"},
                  {"deliveryId", "session-1/call-1"},
                  {"state", "accepted"},
                  {"waitReason", "away"},
                  {"to", {{"sessionId", "session-2"}, {"name", "planner"}}}}));
}

TEST_F(AgentPeersTest, EverythingThatAMessageCarriesReachesTheBroker) {
  Initialize({{"cwd", Directory()}});
  Talk({{"action", "send"},
        {"to", "planner"},
        {"cwd", "."},
        {"message", "see"},
        {"messageId", "own-2"},
        {"supersedes", "own-1"},
        {"retryOf", "own-0"},
        {"replyTo", "session-2/theirs"},
        {"attachments",
         {{{"type", "file"}, {"name", "a.ts"}, {"content", "let a"}},
          {{"type", "context"},
           {"name", "why"},
           {"content", ""},
           {"language", "text"}}}}});
  const v1::Submit submit = broker_.seen().Submits().at(0);
  EXPECT_EQ(submit.reach(), v1::REACH_ACCOUNT);
  EXPECT_EQ(submit.cwd(), Directory());
  EXPECT_EQ(submit.trigger(), "");
  const v1::Envelope& envelope = submit.envelope();
  EXPECT_EQ(envelope.envelope_id(), "own-2");
  EXPECT_EQ(envelope.kind(), v1::ENVELOPE_KIND_MESSAGE);
  EXPECT_EQ(envelope.supersedes(), "own-1");
  EXPECT_EQ(envelope.retry_of(), "own-0");
  EXPECT_EQ(envelope.reply_to(), "session-2/theirs");
  EXPECT_FALSE(envelope.has_reply_within());
  ASSERT_EQ(envelope.attachments_size(), 2);
  EXPECT_EQ(envelope.attachments(0).type(), v1::MessageAttachment::TYPE_FILE);
  EXPECT_EQ(envelope.attachments(0).content(), "let a");
  EXPECT_EQ(envelope.attachments(1).type(),
            v1::MessageAttachment::TYPE_CONTEXT);
  EXPECT_EQ(envelope.attachments(1).language(), "text");
}

TEST_F(AgentPeersTest, AnInferredReplyIsSaidToBeOne) {
  Accept(v1::ENVELOPE_KIND_REPLY, "session-2/ask-9");
  Initialize();
  const Json result =
      Talk({{"action", "send"}, {"to", "planner"}, {"message", "left"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              StartsWith("Reply sent to planner (inferred from pending ask "
                         "ask-9), id call-1."));
  EXPECT_EQ(result["details"]["inferredReplyTo"], "session-2/ask-9");
}

TEST_F(AgentPeersTest, AReplyCarriesTheTurnsTriggerAndItsAttachments) {
  Accept(v1::ENVELOPE_KIND_REPLY, "session-2/ask-9");
  Initialize();
  const Json result =
      Talk({{"action", "reply"},
            {"message", "left"},
            {"attachments",
             {{{"type", "snippet"}, {"name", "s"}, {"content", "go()"}}}}},
           "session-2/ask-9");
  EXPECT_THAT(result["text"].get<std::string>(),
              StartsWith("Reply sent to planner, answering its ask ask-9"));
  EXPECT_FALSE(result["details"].contains("inferredReplyTo"));
  const v1::Submit submit = broker_.seen().Submits().at(0);
  EXPECT_EQ(submit.trigger(), "session-2/ask-9");
  EXPECT_EQ(submit.to(), "");
  EXPECT_EQ(submit.envelope().kind(), v1::ENVELOPE_KIND_REPLY);
  EXPECT_EQ(submit.envelope().attachments_size(), 1);
}

TEST_F(AgentPeersTest, AReplyToAPlainMessageIsAThreadedMessage) {
  Accept(v1::ENVELOPE_KIND_MESSAGE, "session-2/m-1");
  Initialize();
  const Json result =
      Talk({{"action", "reply"}, {"message", "thanks"}}, "session-2/m-1");
  EXPECT_THAT(result["text"].get<std::string>(),
              StartsWith("Message sent to planner, in answer to its message "
                         "m-1"));
}

TEST_F(AgentPeersTest, AFailedSendIsNotShownAsASuccess) {
  Initialize();
  broker_.RefuseSubmit(Error(absl::StatusCode::kFailedPrecondition,
                             "AMBIGUOUS_RECIPIENT", "two are named planner"));
  const Json result =
      Talk({{"action", "send"}, {"to", "planner"}, {"message", "x"}});
  EXPECT_EQ(result["isError"], true);
  EXPECT_EQ(result["reason"], "AMBIGUOUS_RECIPIENT");
  EXPECT_EQ(result["code"], "FAILED_PRECONDITION");
  EXPECT_EQ(result["details"]["messageId"], "call-1");
}

TEST_F(AgentPeersTest, AMalformedAttachmentIsRefusedAtOnceNamingIt) {
  Initialize();
  const Json result =
      Talk({{"action", "send"},
            {"to", "planner"},
            {"message", "x"},
            {"attachments",
             {{{"type", "file"}, {"name", "a"}, {"content", "b"}},
              {{"type", "picture"}, {"name", "a"}, {"content", "b"}}}}});
  EXPECT_EQ(result["reason"], "ARGUMENT_INVALID");
  EXPECT_EQ(result["text"],
            "intercom: attachments[1].type must be file, snippet or context");
  EXPECT_THAT(broker_.seen().Submits(), IsEmpty());
}

TEST_F(AgentPeersTest, ADirectoryThatIsNotThereIsRefusedInWords) {
  Initialize();
  const Json result =
      Talk({{"action", "send"}, {"cwd", "/not/there"}, {"message", "x"}});
  EXPECT_EQ(result["reason"], "DIRECTORY_INVALID");
  EXPECT_THAT(broker_.seen().Submits(), IsEmpty());
}

TEST_F(AgentPeersTest, AMissingPaneIsOpenedOnlyWhereNobodyIs) {
  Initialize({{"cwd", Directory()}});
  const Json arguments = {{"action", "send"},
                          {"cwd", "."},
                          {"message", "x"},
                          {"openProjectPaneIfMissing", true}};
  EXPECT_EQ(Talk(arguments)["isError"], false);
  broker_.RefuseSubmit(
      Error(absl::StatusCode::kNotFound, "NOBODY_THERE", "nobody is there"));
  const Json result = Talk(arguments);
  EXPECT_EQ(result["isError"], true);
  // This host has not said how to start another.
  EXPECT_EQ(result["reason"], "LAUNCH_UNKNOWN");
  EXPECT_THAT(result["text"].get<std::string>(),
              HasSubstr("The message was not sent"));
}

TEST_F(AgentPeersTest, AListShowsOneselfFirstAndTakesAnyDirectory) {
  broker_.AddAnswer("ListSessions", TwoSessions());
  Initialize({{"cwd", Directory()}});
  const Json result = Talk({{"action", "list"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              StartsWith("• session-1 (session-1) — /home/ada/space [idle] "
                         "[self]\n• planner (session-2) — "));
  EXPECT_EQ(result["details"]["sessions"][0]["name"], "planner");
  Talk({{"action", "list-cwd"}});
  Talk({{"action", "list-cwd"}, {"cwd", ".."}});
  const std::string parent =
      std::filesystem::path(Directory()).parent_path().string();
  EXPECT_THAT(broker_.seen().calls,
              ElementsAre(StartsWith("ListSessions"), HasSubstr("cwd: \""),
                          "ListSessions cwd: \"" + parent + "\""));
}

TEST_F(AgentPeersTest, TheHostListsSessionsItself) {
  broker_.AddAnswer("ListSessions", TwoSessions());
  Initialize();
  Request("r", "sessions/list", {{"withAway", true}});
  const Json result = Next("r")["result"];
  EXPECT_EQ(result["self"]["sessionId"], "session-1");
  EXPECT_THAT(result["sessions"], SizeIs(1));
  EXPECT_EQ(result["sessions"][0]["status"], "idle");
  EXPECT_THAT(broker_.seen().calls,
              ElementsAre("ListSessions with_away: true"));
}

TEST_F(AgentPeersTest, WithoutABrokerTheHostsListFailsAndTheStatusSaysWhy) {
  Initialize();
  broker_.Refuse(Error(absl::StatusCode::kUnavailable, "DRAINING", "leaving"));
  broker_.BreakStreams();
  NextSession("connecting");
  Request("r", "sessions/list", Json::object());
  EXPECT_EQ(Next("r")["error"]["data"]["reason"], "NOT_CONNECTED");
  EXPECT_EQ(Talk({{"action", "list"}})["reason"], "NOT_CONNECTED");
  const Json status = Talk({{"action", "status"}});
  EXPECT_EQ(status["isError"], false);
  EXPECT_THAT(status["text"].get<std::string>(),
              AllOf(StartsWith("Not connected"), HasSubstr("session-1")));
  EXPECT_EQ(status["details"]["connected"], false);
}

TEST_F(AgentPeersTest, TheStatusTellsWhoOneIsAndWhatWaits) {
  broker_.AddAnswer("ListSessions", TwoSessions());
  v1::Welcome welcome;
  welcome.set_role(v1::ROLE_PEER);
  welcome.set_broker_version("1.2.3");
  welcome.set_stable_id("main");
  welcome.add_operations("peer.send");
  broker_.SetWelcome(welcome);
  const Json session = Initialize(
      {{"stableId", "main"}, {"scope", "blue"}, {"sessionName", "Ann"}});
  EXPECT_EQ(session["stableId"], "main");
  EXPECT_EQ(broker_.seen().Hellos().at(0).stable_id(), "main");
  v1::AttachResponse frame;
  frame.mutable_pending_asks()->add_asks()->set_delivery_id("s/a");
  broker_.Send(frame);
  Next("asks");
  EXPECT_THAT(Talk({{"action", "status"}})["text"].get<std::string>(),
              AllOf(StartsWith("Connected to broker 1.2.3 on port "),
                    HasSubstr("Session session-1, short session-1, name Ann, "
                              "stable id main, scope blue, role peer.\n"),
                    HasSubstr("2 sessions attached"),
                    HasSubstr("1 ask waits for your answer")));
}

TEST_F(AgentPeersTest, TheStatusOfAMessageShowsEachStateAndItsEvidence) {
  broker_.SetWaitReason(v1::WAIT_REASON_BUSY);
  Initialize();
  Talk({{"action", "send"}, {"to", "planner"}, {"message", "x"}});
  const Json result = Talk({{"action", "status"}, {"messageId", "call-1"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(StartsWith("call-1 message from "),
                    HasSubstr("accepted  2027-01-15 08:00:00Z  on disk"),
                    HasSubstr("Waiting, held: planner is in a turn")));
  EXPECT_EQ(result["details"]["state"], "accepted");
  EXPECT_EQ(Talk({{"action", "status"}, {"messageId", "nothing"}})["reason"],
            "UNKNOWN_ENVELOPE");
}

TEST_F(AgentPeersTest, PendingAsksAreListedWithWhoStillWaits) {
  v1::ListAsksResponse response;
  v1::Ask& waits = *response.add_asks();
  waits.set_delivery_id("session-2/ask-1");
  waits.mutable_asker()->set_session_id("session-2");
  waits.mutable_asker()->set_name("planner");
  waits.mutable_deadline_at()->set_seconds(1'800'000'600);
  waits.set_awaited(true);
  waits.set_preview("which\nway?");
  v1::Ask& late = *response.add_asks();
  late.set_delivery_id("session-3/ask-2");
  late.mutable_asker()->set_session_id("session-3");
  broker_.AddAnswer("ListAsks", response);
  Initialize();
  const Json result = Talk({{"action", "pending"}});
  EXPECT_THAT(result["text"].get<std::string>(),
              AllOf(StartsWith("2 asks wait"),
                    HasSubstr("planner (session session-2) asked "),
                    HasSubstr("id ask-1; it waits until 08:10:00Z\n> which\n> "
                              "way?\n"),
                    HasSubstr("id ask-2; it no longer waits")));
  EXPECT_EQ(result["details"]["pending"][0]["envelopeId"], "ask-1");
}

TEST_F(AgentPeersTest, ACancelSaysWhatBecameOfTheMessage) {
  v1::WithdrawMessageResponse withdrawn;
  withdrawn.mutable_record()->set_recipient_name("planner");
  v1::WithdrawMessageResponse requested = withdrawn;
  requested.set_requested(true);
  broker_.AddAnswer("WithdrawMessage", withdrawn);
  broker_.AddAnswer("WithdrawMessage", requested);
  broker_.AddError(
      "WithdrawMessage",
      Error(absl::StatusCode::kFailedPrecondition, "TOO_LATE", "it has ended"));
  broker_.AddError("WithdrawMessage",
                   Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
                         "the host did not answer"));
  Initialize();
  const Json arguments = {{"action", "cancel"}, {"messageId", "m-1"}};
  EXPECT_THAT(Talk(arguments)["text"].get<std::string>(),
              HasSubstr("is withdrawn"));
  const Json asked = Talk(arguments);
  EXPECT_EQ(asked["isError"], false);
  EXPECT_THAT(asked["text"].get<std::string>(),
              HasSubstr("asked to disregard it"));
  EXPECT_EQ(asked["details"]["outcome"], "cancellationRequested");
  const Json late = Talk(arguments);
  EXPECT_EQ(late["isError"], true);
  EXPECT_EQ(late["reason"], "TOO_LATE");
  const Json unknown = Talk(arguments);
  EXPECT_EQ(unknown["reason"], "OUTCOME_UNKNOWN");
  EXPECT_THAT(unknown["text"].get<std::string>(),
              HasSubstr("action status with its messageId"));
  EXPECT_THAT(broker_.seen().calls,
              Contains("WithdrawMessage envelope_id: \"m-1\" "
                       "request_if_late: true"));
}

TEST_F(AgentPeersTest, AsksThatWaitAreToldToTheHostAndForgottenWithTheBroker) {
  Initialize();
  v1::AttachResponse frame;
  v1::Ask& ask = *frame.mutable_pending_asks()->add_asks();
  ask.set_delivery_id("session-2/ask-1");
  ask.mutable_asker()->set_name("planner");
  ask.mutable_asked_at()->set_seconds(1'800'000'000);
  ask.set_awaited(true);
  ask.set_preview("which way?");
  broker_.Send(frame);
  const Json told = Next("asks")["params"]["pending"];
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0]["envelopeId"], "ask-1");
  EXPECT_EQ(told[0]["from"]["name"], "planner");
  EXPECT_EQ(told[0]["askedAt"], "2027-01-15T08:00:00Z");
  EXPECT_EQ(told[0]["awaited"], true);
  EXPECT_EQ(told[0]["preview"], "which way?");
  broker_.BreakStreams();
  EXPECT_THAT(Next("asks")["params"]["pending"], IsEmpty());
}

TEST_F(AgentPeersTest, ReplyHintsCanBeLeftOut) {
  Initialize({{"replyHint", false}});
  broker_.Deliver("e-1", "hello");
  const Json params = Next("deliver")["params"];
  EXPECT_FALSE(params.contains("hint"));
  EXPECT_THAT(params["content"].get<std::string>(),
              AllOf(HasSubstr("> hello"), Not(HasSubstr("To answer"))));
}

TEST_F(AgentPeersTest, ToolAndNoteOfAnActivityReachTheBroker) {
  Initialize();
  Notify("activity",
         {{"phase", "tool"}, {"tool", "bash"}, {"note", "researching"}});
  ASSERT_TRUE(broker_.Await([](const FakeBroker::Seen& seen) {
    return seen.Count(v1::AttachRequest::kActivity) == 1;
  }));
  const v1::Activity activity = broker_.seen().frames.back().activity();
  EXPECT_EQ(activity.tool(), "bash");
  EXPECT_EQ(activity.note(), "researching");
}

struct BadStart {
  const char* key;
  Json value;
};
void PrintTo(const BadStart& bad, std::ostream* out) { *out << bad.key; }

class BadStartTest : public AgentRig,
                     public ::testing::WithParamInterface<BadStart> {};

TEST_P(BadStartTest, IsRefusedNamingTheSetting) {
  Request("init", "initialize",
          {{"protocolVersion", 1},
           {"sessionId", "session-1"},
           {"cwd", "/w"},
           {"host", {{"kind", "pi"}, {"pid", 1}}},
           {GetParam().key, GetParam().value}});
  const Json error = Next("init")["error"];
  EXPECT_EQ(error["data"]["reason"], "INITIALIZE_INVALID");
  EXPECT_THAT(error["message"].get<std::string>(), HasSubstr(GetParam().key));
}

INSTANTIATE_TEST_SUITE_P(All, BadStartTest,
                         ::testing::Values(BadStart{"askTimeoutMs", 999},
                                           BadStart{"askTimeoutMs", "10"},
                                           BadStart{"livenessIntervalMs", 0},
                                           BadStart{"livenessTimeoutMs", -1},
                                           BadStart{"stableId", "two words"},
                                           BadStart{"stableId",
                                                    std::string(65, 'x')}));

}  // namespace
}  // namespace intercom
