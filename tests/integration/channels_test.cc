// Channels over real connections.

#include <memory>
#include <string>
#include <vector>

#include "intercom/v1/channel.grpc.pb.h"
#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::IsEmpty;

class ChannelsTest : public BrokerFixture {
 protected:
  ChannelsTest() { StartBroker(); }

  static v1::AttachRequest RequestOf(const std::string& id) {
    v1::AttachRequest frame;
    frame.mutable_channel_request()->set_request_id(id);
    frame.mutable_channel_request()->set_namespace_("example/v1");
    return frame;
  }
  static void Join(AttachClient& client) {
    v1::AttachRequest frame = RequestOf("join");
    frame.mutable_channel_request()->mutable_join()->set_owner_eligible(true);
    EXPECT_TRUE(client.Write(frame));
    WaitForEvent(client, v1::ChannelEvent::kOwner);
  }
  static void Publish(AttachClient& client, const std::string& payload) {
    v1::AttachRequest frame = RequestOf("publish");
    frame.mutable_channel_request()->mutable_publish()->set_payload(payload);
    EXPECT_TRUE(client.Write(frame));
  }
  static void Commit(AttachClient& client, const std::string& payload,
                     const std::string& epoch) {
    v1::AttachRequest frame = RequestOf("commit");
    auto* commit = frame.mutable_channel_request()->mutable_commit();
    commit->set_payload(payload);
    commit->set_epoch(epoch);
    EXPECT_TRUE(client.Write(frame));
  }
  // The first event of a kind.
  static v1::ChannelEvent WaitForEvent(AttachClient& client,
                                       v1::ChannelEvent::EventCase kind) {
    for (size_t count = 1;; ++count) {
      const auto frames = client.frames.WaitFor(Frame::kChannelEvent, count);
      for (const Frame& frame : frames) {
        if (frame.channel_event().event_case() == kind) {
          return frame.channel_event();
        }
      }
    }
  }
  static v1::ChannelResult WaitForResult(AttachClient& client,
                                         const std::string& id) {
    for (size_t count = 1;; ++count) {
      const auto frames = client.frames.WaitFor(Frame::kChannelResult, count);
      for (const Frame& frame : frames) {
        if (frame.channel_result().request_id() == id) {
          return frame.channel_result();
        }
      }
    }
  }
};

TEST_F(ChannelsTest, TwoSessionsExchangeAPayloadThatIsNoMail) {
  auto first = Attach("c-1");
  auto second = Attach("w-1");
  EXPECT_EQ(first->frames.welcome().features(0), "channels");
  Join(*first);
  Join(*second);
  Publish(*second, "{\"n\":1}");
  for (AttachClient* client : {first.get(), second.get()}) {
    const auto event = WaitForEvent(*client, v1::ChannelEvent::kMessage);
    EXPECT_EQ(event.message().payload(), "{\"n\":1}");
    EXPECT_EQ(event.message().from_session_id(), "w-1");
    EXPECT_EQ(event.message().owner().session_id(), "c-1");
  }
  EXPECT_TRUE(WaitForResult(*second, "publish").ok());
  EXPECT_THAT(first->frames.deliveries(), IsEmpty());
  v1::ListMessagesResponse mail;
  const auto client = Tcp();
  EXPECT_TRUE(client
                  ->Call(*client->messages,
                         &v1::MessageService::Stub::ListMessages,
                         v1::ListMessagesRequest(), mail)
                  .ok());
  EXPECT_EQ(mail.records_size(), 0);
}

TEST_F(ChannelsTest, AStateIsThereAfterARestartOfTheBroker) {
  auto owner = Attach("c-1");
  Join(*owner);
  const auto elected = WaitForEvent(*owner, v1::ChannelEvent::kOwner);
  Commit(*owner, "{\"goal\":\"green\"}", elected.owner().epoch());
  EXPECT_EQ(WaitForResult(*owner, "commit").revision(), 1);
  owner.reset();
  RestartBroker();

  auto later = Attach("w-1");
  Join(*later);
  const auto state = WaitForEvent(*later, v1::ChannelEvent::kState);
  EXPECT_EQ(state.state().payload(), "{\"goal\":\"green\"}");
  EXPECT_EQ(state.state().revision(), 1);
}

TEST_F(ChannelsTest, ADeathOfTheOwnerMakesTheNextOneOwner) {
  auto first = Attach("c-1");
  auto second = Attach("w-1");
  Join(*first);
  Join(*second);
  WaitForEvent(*first, v1::ChannelEvent::kMembership);
  first->Cancel();
  const auto left = WaitForEvent(*second, v1::ChannelEvent::kMembership);
  EXPECT_EQ(left.membership().session_id(), "c-1");
  EXPECT_FALSE(left.membership().joined());
  const auto frames = second->frames.WaitFor(Frame::kChannelEvent, 3);
  EXPECT_EQ(frames[0].channel_event().owner().session_id(), "c-1");
  EXPECT_EQ(frames[2].channel_event().owner().session_id(), "w-1");
}

// Who stops reading costs the broker no memory, and the others nothing.
TEST_F(ChannelsTest, AMemberThatDoesNotReadIsLetGoAndTheOthersGoOn) {
  constexpr int kSenders = 6;
  constexpr int kEach = 230;  // Within a session's burst.
  AttachClient silent(Tcp());
  ASSERT_TRUE(silent.SayHello(HelloOf("w-1")));
  ASSERT_TRUE(silent.ReadOne());  // Welcome, and no more.
  v1::AttachRequest join = RequestOf("join");
  join.mutable_channel_request()->mutable_join();
  ASSERT_TRUE(silent.Write(join));
  std::vector<std::unique_ptr<AttachClient>> senders;
  for (int i = 0; i < kSenders; ++i) {
    senders.push_back(Attach("s-" + std::to_string(i)));
    Join(*senders.back());
  }
  const std::string payload(1024, '1');
  for (int i = 0; i < kEach; ++i) {
    for (const auto& sender : senders) Publish(*sender, payload);
  }
  const auto messages = [](AttachClient& client) {
    int count = 0;
    for (const Frame& frame : client.frames.Of(Frame::kChannelEvent)) {
      count += frame.channel_event().has_message() ? 1 : 0;
    }
    return count;
  };
  for (const auto& sender : senders) {
    for (size_t count = kSenders * kEach; messages(*sender) < kSenders * kEach;
         ++count) {
      sender->frames.WaitFor(Frame::kChannelEvent, count);
    }
  }
  EXPECT_THAT(silent.End(), EndsWithReason(grpc::StatusCode::RESOURCE_EXHAUSTED,
                                           "CLIENT_DOES_NOT_READ"));
}

TEST_F(ChannelsTest, WhoIsWhereIsListed) {
  auto first = Attach("c-1");
  Join(*first);
  v1::ListChannelsResponse listed;
  const auto client = Tcp();
  const auto stub = v1::ChannelService::NewStub(client->channel);
  EXPECT_TRUE(client
                  ->Call(*stub, &v1::ChannelService::Stub::ListChannels,
                         v1::ListChannelsRequest(), listed)
                  .ok());
  ASSERT_EQ(listed.channels_size(), 1);
  EXPECT_EQ(listed.channels(0).namespace_(), "example/v1");
  EXPECT_EQ(listed.channels(0).owner().session_id(), "c-1");
}

}  // namespace
}  // namespace intercom
