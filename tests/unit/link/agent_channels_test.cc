// Extension channels, from the host's lines to the broker's frames and back.

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/agent_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

constexpr char kRoom[] = "example/v1";

class AgentChannelsTest : public AgentRig {
 protected:
  static v1::Welcome WelcomeWith(const std::string& feature) {
    v1::Welcome welcome = WorkerWelcome();
    if (!feature.empty()) welcome.add_features(feature);
    return welcome;
  }
  Json InitializeWithChannels() {
    broker_.SetWelcome(WelcomeWith("channels"));
    return Initialize();
  }
  // The channel request number `index` that the broker got, once it has it.
  v1::ChannelRequest RequestAt(size_t index) {
    v1::ChannelRequest request;
    EXPECT_TRUE(broker_.Await([&](const FakeBroker::Seen& seen) {
      size_t count = 0;
      for (const auto& frame : seen.frames) {
        if (!frame.has_channel_request() || count++ != index) continue;
        request = frame.channel_request();
        return true;
      }
      return false;
    }));
    return request;
  }
  int RequestCount() {
    return broker_.seen().Count(v1::AttachRequest::kChannelRequest);
  }
  void Resolve(const v1::ChannelRequest& request, const std::string& reason,
               int64_t revision = 0) {
    v1::AttachResponse frame;
    v1::ChannelResult& result = *frame.mutable_channel_result();
    result.set_request_id(request.request_id());
    result.set_namespace_(request.namespace_());
    result.set_ok(reason.empty());
    result.set_reason(reason);
    result.set_message(reason.empty() ? "" : "because\x1b[2J");
    result.set_revision(revision);
    ASSERT_TRUE(broker_.Send(std::move(frame)));
  }
  void Join() {
    Request("join", "channel/join",
            {{"namespace", kRoom}, {"ownerEligible", true}});
    Resolve(RequestAt(0), "");
    EXPECT_EQ(Result("join")["ok"], true);
  }
  void SendEvent(const v1::ChannelEvent& event) {
    v1::AttachResponse frame;
    *frame.mutable_channel_event() = event;
    frame.mutable_channel_event()->set_namespace_(kRoom);
    ASSERT_TRUE(broker_.Send(std::move(frame)));
  }
  void SendMessage(const std::string& payload) {
    v1::ChannelEvent event;
    event.mutable_message()->set_from_session_id("other");
    event.mutable_message()->set_payload(payload);
    SendEvent(event);
  }
};

TEST_F(AgentChannelsTest, TheHostHearsWhatTheBrokerOffers) {
  EXPECT_EQ(InitializeWithChannels()["features"], Json({"channels"}));
}

TEST_F(AgentChannelsTest, AJoinReachesTheBrokerAndItsAnswerTheHost) {
  InitializeWithChannels();
  Request("j", "channel/join", {{"namespace", kRoom}, {"ownerEligible", true}});
  const v1::ChannelRequest request = RequestAt(0);
  EXPECT_EQ(request.namespace_(), kRoom);
  EXPECT_TRUE(request.join().owner_eligible());
  Resolve(request, "CHANNELS_FULL");
  const Json result = Result("j");
  EXPECT_EQ(result["ok"], false);
  EXPECT_EQ(result["reason"], "CHANNELS_FULL");
  EXPECT_EQ(result["message"], "because");
}

TEST_F(AgentChannelsTest, PayloadsAreJsonOnBothSides) {
  InitializeWithChannels();
  Join();
  const Json payload = {{"n", 1}, {"text", "é"}, {"none", nullptr}};
  Request("p", "channel/publish",
          {{"namespace", kRoom},
           {"payload", payload},
           {"audience", "owner"},
           {"ownerOnly", true},
           {"epoch", "e1"}});
  const v1::ChannelRequest request = RequestAt(1);
  EXPECT_EQ(ParseJson(request.publish().payload()), payload);
  EXPECT_EQ(request.publish().audience(),
            v1::ChannelRequest::Publish::AUDIENCE_OWNER);
  EXPECT_TRUE(request.publish().owner_only());
  EXPECT_EQ(request.publish().epoch(), "e1");
  SendMessage(request.publish().payload());
  const Json event = Next("channel/event")["params"];
  EXPECT_EQ(event["type"], "message");
  EXPECT_EQ(event["fromSessionId"], "other");
  EXPECT_EQ(event["payload"], payload);
}

TEST_F(AgentChannelsTest, ACommitIsAnsweredWithTheRevisionInForce) {
  InitializeWithChannels();
  Join();
  Request("c", "channel/commit",
          {{"namespace", kRoom},
           {"payload", nullptr},
           {"expectedRevision", 3},
           {"epoch", "e1"}});
  const v1::ChannelRequest request = RequestAt(1);
  EXPECT_EQ(request.commit().payload(), "null");
  EXPECT_EQ(request.commit().expected_revision(), 3);
  Resolve(request, "REVISION_CONFLICT", 5);
  const Json result = Result("c");
  EXPECT_EQ(result["ok"], false);
  EXPECT_EQ(result["revision"], 5);
}

TEST_F(AgentChannelsTest, EventsKeepTheirFacts) {
  InitializeWithChannels();
  v1::ChannelEvent owner;
  owner.mutable_owner()->set_session_id("s");
  owner.mutable_owner()->set_epoch("e");
  SendEvent(owner);
  EXPECT_EQ(Next("channel/event")["params"],
            Json({{"namespace", kRoom},
                  {"type", "owner"},
                  {"owner", {{"sessionId", "s"}, {"epoch", "e"}}}}));
  v1::ChannelEvent ownerless;
  ownerless.mutable_owner();
  SendEvent(ownerless);
  EXPECT_EQ(Next("channel/event")["params"],
            Json({{"namespace", kRoom}, {"type", "owner"}}));
  v1::ChannelEvent state;
  state.mutable_state()->set_revision(2);
  state.mutable_state()->set_payload("[1]");
  SendEvent(state);
  EXPECT_EQ(Next("channel/event")["params"]["state"],
            Json({{"revision", 2}, {"payload", {1}}}));
  v1::ChannelEvent left;
  left.mutable_membership()->set_session_id("s");
  left.mutable_membership()->set_name("n");
  SendEvent(left);
  EXPECT_EQ(Next("channel/event")["params"], Json({{"namespace", kRoom},
                                                   {"type", "membership"},
                                                   {"sessionId", "s"},
                                                   {"name", "n"},
                                                   {"joined", false}}));
}

TEST_F(AgentChannelsTest, WhatIsNotJsonOrNestsTooDeepEndsNobody) {
  InitializeWithChannels();
  SendMessage("{no JSON");
  SendMessage(std::string(8000, '[') + std::string(8000, ']'));
  SendMessage("[\"" + std::string(300, '[') + "\\\"\"]");
  EXPECT_EQ(Next("channel/event")["params"]["payload"],
            Json({std::string(300, '[') + "\""}));
}

TEST_F(AgentChannelsTest, ReadsNothingIntoARequestThatIsNone) {
  InitializeWithChannels();
  Json deep = 1;
  for (int i = 0; i < 300; ++i) deep = Json::array({std::move(deep)});
  const std::vector<std::pair<std::string, Json>> requests = {
      {"channel/join", Json::object()},
      {"channel/publish", {{"namespace", kRoom}}},
      {"channel/publish",
       {{"namespace", kRoom}, {"payload", 1}, {"audience", "all"}}},
      {"channel/publish", {{"namespace", kRoom}, {"payload", deep}}},
      {"channel/commit", {{"namespace", kRoom}, {"expectedRevision", 0}}},
      {"channel/commit",
       {{"namespace", kRoom}, {"payload", 1}, {"expectedRevision", 0.5}}}};
  for (const auto& [method, params] : requests) {
    Request("bad", method, params);
    EXPECT_EQ(Next("bad")["error"]["data"]["reason"], "ARGUMENT_INVALID")
        << method << params;
  }
  EXPECT_EQ(RequestCount(), 0);
}

TEST_F(AgentChannelsTest, AnOlderBrokerIsSentNothing) {
  broker_.SetWelcome(WelcomeWith(""));
  EXPECT_EQ(Initialize()["features"], Json::array());
  Request("j", "channel/join", {{"namespace", kRoom}});
  const Json result = Result("j");
  EXPECT_EQ(result["reason"], "UNSUPPORTED_BROKER");
  EXPECT_THAT(result["message"].get<std::string>(), HasSubstr("restart"));
  EXPECT_EQ(RequestCount(), 0);
}

TEST_F(AgentChannelsTest, ARequestWhoseConnectionBreaksIsAnswered) {
  InitializeWithChannels();
  Join();
  Request("p", "channel/publish", {{"namespace", kRoom}, {"payload", 1}});
  RequestAt(1);
  broker_.Refuse(absl::UnavailableError("away"));
  broker_.BreakStreams();
  EXPECT_EQ(Result("p")["reason"], "NOT_CONNECTED");
  Request("q", "channel/publish", {{"namespace", kRoom}, {"payload", 1}});
  EXPECT_EQ(Result("q")["reason"], "NOT_CONNECTED");
  EXPECT_EQ(RequestCount(), 2);
}

TEST_F(AgentChannelsTest, JoinsAgainAfterAReconnection) {
  InitializeWithChannels();
  Join();
  broker_.BreakStreams();
  const v1::ChannelRequest again = RequestAt(1);
  EXPECT_EQ(again.namespace_(), kRoom);
  EXPECT_TRUE(again.join().owner_eligible());
  Resolve(again, "");
  NextSession("connected");
  Request("l", "channel/leave", {{"namespace", kRoom}});
  Resolve(RequestAt(2), "");
  EXPECT_EQ(Result("l")["ok"], true);
  broker_.BreakStreams();
  NextSession("connected");
  // Left is left: the next request is not a join.
  Request("m", "channel/publish", {{"namespace", kRoom}, {"payload", 1}});
  EXPECT_TRUE(RequestAt(3).has_publish());
}

TEST_F(AgentChannelsTest, APersonHearsOfAChannelThatCouldNotBeJoinedAgain) {
  InitializeWithChannels();
  Join();
  broker_.BreakStreams();
  Resolve(RequestAt(1), "CHANNELS_FULL");
  const Json notice = Next("notice")["params"];
  EXPECT_EQ(notice["level"], "warning");
  EXPECT_EQ(notice["text"],
            "the extension channel example/v1 is lost: because");
}

}  // namespace
}  // namespace intercom
