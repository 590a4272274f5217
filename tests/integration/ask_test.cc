// Asks over real connections.

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// w-1 "Reviewer" asks w-2 "Builder".
class AskTest : public BrokerFixture {
 protected:
  struct Waited {
    CallEnd end;
    v1::AwaitReplyResponse response;
  };

  AskTest() {
    StartBroker();
    Come();
  }
  void Come(const std::vector<std::string>& builder_has = {}) {
    reviewer_ = Attach("w-1");
    builder_ = Attach("w-2", InjectAtOnce, builder_has);
  }

  static v1::Envelope Question(const std::string& id) {
    v1::Envelope ask = Message(id);
    ask.set_kind(v1::ENVELOPE_KIND_ASK);
    return ask;
  }
  static v1::Envelope Reply(const std::string& id, const std::string& to) {
    v1::Envelope reply = Message(id);
    reply.set_kind(v1::ENVELOPE_KIND_REPLY);
    reply.set_reply_to(to);
    return reply;
  }
  // How the latest submit of an attachment was answered, of `count`.
  static v1::Submitted Submitted(AttachClient& client, size_t count = 1) {
    return client.frames.WaitFor(Frame::kSubmitted, count).back().submitted();
  }
  void Ask(const std::string& id) {
    EXPECT_TRUE(reviewer_->Submit("Builder", Question(id)));
    EXPECT_EQ(Submitted(*reviewer_).failure().reason(), "");
    builder_->frames.WaitFor(Frame::kDelivery);
  }

  // The reviewer's agent, on a connection beside its stream.
  std::shared_ptr<BrokerClient> AsReviewer() {
    auto client = Tcp();
    client->ActAs(reviewer_->frames.welcome().session_token());
    return client;
  }
  static Waited Await(BrokerClient& client, const std::string& id,
                      absl::Duration wait = absl::Seconds(30)) {
    v1::AwaitReplyRequest request;
    request.set_envelope_id(id);
    *request.mutable_wait() = ToProtoDuration(wait);
    Waited waited;
    waited.end = client.Call(*client.asks, &v1::AskService::Stub::AwaitReply,
                             request, waited.response);
    return waited;
  }
  std::future<Waited> BeginAwait(const std::string& id) {
    return std::async(std::launch::async, [client = AsReviewer(), id] {
      return Await(*client, id);
    });
  }
  // Blocks until the next frame that tells that the ask is awaited, or is not
  // any more.
  void WaitUntilAwaited(bool awaited) {
    while (true) {
      const auto frames =
          builder_->frames.WaitFor(Frame::kPendingAsks, ++told_);
      const auto& asks = frames[told_ - 1].pending_asks().asks();
      if (asks.size() == 1 && asks[0].awaited() == awaited) return;
    }
  }

  std::unique_ptr<AttachClient> reviewer_, builder_;
  // How many frames of the builder's were looked at.
  size_t told_ = 0;
};

TEST_F(AskTest, ACallThatWaitsIsAnsweredByTheReply) {
  Ask("a1");
  auto waiting = BeginAwait("a1");

  EXPECT_TRUE(builder_->Submit("", Reply("r1", "w-1/a1")));

  const Waited waited = waiting.get();
  EXPECT_TRUE(waited.end.ok());
  EXPECT_EQ(waited.response.ask().state(), v1::Ask::STATE_ANSWERED);
  EXPECT_EQ(waited.response.reply().envelope().text(), "text of r1");
  EXPECT_EQ(waited.response.reply().state(), v1::DELIVERY_STATE_DELIVERED);
  EXPECT_THAT(reviewer_->frames.texts(), IsEmpty());
}

TEST_F(AskTest, AnotherSessionCanNotWaitForItsReply) {
  Ask("a1");
  auto other = Tcp();
  other->ActAs(builder_->frames.welcome().session_token());
  EXPECT_THAT(Await(*other, "a1").end,
              EndsWithReason(grpc::StatusCode::NOT_FOUND, "UNKNOWN_ASK"));
  EXPECT_THAT(
      Await(*AsReviewer(), "a1", absl::Seconds(31)).end,
      EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT, "WAIT_INVALID"));
}

TEST_F(AskTest, CrossedAsksAreRefused) {
  Ask("a1");
  EXPECT_TRUE(builder_->Submit("Reviewer", Question("a2")));
  EXPECT_EQ(Submitted(*builder_).failure().reason(), "ASK_CYCLE");
}

TEST_F(AskTest, AWaitEndsWithItsConnection) {
  Ask("a1");
  clock_.Advance(absl::Seconds(15));
  WaitUntilAwaited(false);  // Nobody has come to wait.
  grpc::ClientContext context;
  const auto client = AsReviewer();
  client->Prepare(context);
  v1::AwaitReplyRequest request;
  request.set_envelope_id("a1");
  *request.mutable_wait() = ToProtoDuration(absl::Seconds(30));
  auto call = std::async(std::launch::async, [&] {
    v1::AwaitReplyResponse response;
    return client->asks->AwaitReply(&context, request, &response);
  });
  WaitUntilAwaited(true);
  context.TryCancel();
  EXPECT_EQ(call.get().error_code(), grpc::StatusCode::CANCELLED);
  // By the time that a later call is answered, the broker knows, as a rule;
  // otherwise the lapse takes its 10 s.
  EXPECT_TRUE(Await(*client, "a1", absl::ZeroDuration()).end.ok());
  clock_.Advance(absl::Seconds(15));
  WaitUntilAwaited(false);

  EXPECT_TRUE(builder_->Submit("", Reply("r1", "w-1/a1")));
  reviewer_->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(reviewer_->frames.texts(), ElementsAre("text of r1"));
}

TEST_F(AskTest, AnAskOverARestartOfTheBrokerIsAnsweredOnce) {
  Ask("a1");
  auto waiting = BeginAwait("a1");
  RestartBroker();
  // The broker said how the ask was, or the call was cut off before.
  const Waited before = waiting.get();
  if (before.end.ok()) {
    EXPECT_EQ(before.response.ask().state(), v1::Ask::STATE_OPEN);
  }
  Come({"w-1/a1"});

  // Agents repeat what was cut off, and a reply that nobody has confirmed.
  auto again = BeginAwait("a1");
  EXPECT_TRUE(builder_->Submit("", Reply("r1", "w-1/a1")));
  EXPECT_EQ(Submitted(*builder_).failure().reason(), "");
  EXPECT_TRUE(builder_->Submit("", Reply("r1", "w-1/a1")));
  const v1::Submitted repeated = Submitted(*builder_, 2);
  EXPECT_EQ(repeated.failure().reason(), "");
  EXPECT_EQ(repeated.record().envelope().kind(), v1::ENVELOPE_KIND_REPLY);

  const Waited waited = again.get();
  EXPECT_TRUE(waited.end.ok());
  EXPECT_EQ(waited.response.reply().delivery_id(), "w-2/r1");

  // And over another one before the session shows it.
  RestartBroker();
  Come({"w-1/a1"});
  EXPECT_EQ(Await(*AsReviewer(), "a1").response.reply().delivery_id(),
            "w-2/r1");
  EXPECT_TRUE(reviewer_->SayReceipt("w-2/r1", v1::Receipt::EVENT_INJECTED));
  EXPECT_TRUE(builder_->Submit("Reviewer", Message("m1")));
  reviewer_->frames.WaitFor(Frame::kDelivery);
  EXPECT_THAT(reviewer_->frames.texts(), ElementsAre("text of m1"));
}

TEST_F(AskTest, ABrokerThatStopsLetsWhoeverWaitsGo) {
  Ask("a1");
  clock_.Advance(absl::Seconds(15));
  WaitUntilAwaited(false);
  auto waiting = BeginAwait("a1");
  WaitUntilAwaited(true);
  broker_->Stop();
  const Waited waited = waiting.get();
  EXPECT_TRUE(waited.end.ok()) << waited.end.message;
  EXPECT_EQ(waited.response.ask().state(), v1::Ask::STATE_OPEN);
}

TEST_F(AskTest, AClientWithoutASessionAsksAndWaits) {
  auto client = Tcp();
  EXPECT_TRUE(client->Send("Builder", Question("q1"), root_, nullptr).ok());
  const auto deliveries = builder_->frames.WaitFor(Frame::kDelivery);
  const std::string id = deliveries[0].delivery().delivery_id();
  auto waiting =
      std::async(std::launch::async, [client] { return Await(*client, "q1"); });
  EXPECT_TRUE(builder_->Submit("", Reply("r1", id)));
  const Waited waited = waiting.get();
  EXPECT_TRUE(waited.end.ok()) << waited.end.message;
  EXPECT_EQ(waited.response.reply().envelope().text(), "text of r1");
  EXPECT_EQ(waited.response.reply().state(), v1::DELIVERY_STATE_INJECTED);
}

TEST_F(AskTest, ListsTellBothSides) {
  Ask("a1");
  const auto ids = [](const std::shared_ptr<BrokerClient>& client, bool sent) {
    v1::ListAsksRequest request;
    request.set_sent(sent);
    v1::ListAsksResponse response;
    EXPECT_TRUE(client
                    ->Call(*client->asks, &v1::AskService::Stub::ListAsks,
                           request, response)
                    .ok());
    std::vector<std::string> found;
    for (const v1::Ask& ask : response.asks()) {
      found.push_back(ask.delivery_id());
    }
    return found;
  };
  auto builder = Tcp();
  builder->ActAs(builder_->frames.welcome().session_token());
  EXPECT_THAT(ids(AsReviewer(), true), ElementsAre("w-1/a1"));
  EXPECT_THAT(ids(AsReviewer(), false), IsEmpty());
  EXPECT_THAT(ids(builder, false), ElementsAre("w-1/a1"));
  EXPECT_THAT(ids(builder, true), IsEmpty());
}

}  // namespace
}  // namespace intercom
