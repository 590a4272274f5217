// The Attach stream over real connections.

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::ElementsAreArray;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AttachTest : public BrokerFixture {
 protected:
  AttachTest() { StartBroker(); }
};

TEST_F(AttachTest, ASessionAttachesOverTheUnixSocketAndOverTcp) {
  for (const auto& connection : {Unix(), Tcp()}) {
    AttachClient client(connection);
    ASSERT_TRUE(client.SayHello(HelloOf("w-1", getpid())));
    client.StartReading();
    const auto welcome = client.frames.WaitFor(Frame::kWelcome);
    EXPECT_EQ(welcome[0].welcome().role(), v1::ROLE_WORKER);
    EXPECT_EQ(welcome[0].welcome().port(), broker_->port());
    EXPECT_EQ(welcome[0].welcome().workspace_root(), root_);
    client.SayGoodbye(v1::Goodbye::REASON_QUIT);
    EXPECT_TRUE(client.End().ok());
  }
}

TEST_F(AttachTest, AMessageGoesFromOneSessionToAnotherWithItsReceipts) {
  auto coordinator = Attach("c-1");
  auto worker = Attach("w-1", InjectAtOnce);
  EXPECT_TRUE(coordinator->Submit("reviewer", Message("e1")));
  const auto answers = coordinator->frames.WaitFor(Frame::kSubmitted);
  EXPECT_EQ(answers[0].submitted().envelope_id(), "e1");
  EXPECT_EQ(answers[0].submitted().record().state(),
            v1::DELIVERY_STATE_ACCEPTED);
  const auto deliveries = worker->frames.WaitFor(Frame::kDelivery);
  EXPECT_EQ(deliveries[0].delivery().envelope().text(), "text of e1");
  Leave(*worker);  // the broker has read the receipt before the goodbye

  v1::DeliveryRecord record;
  EXPECT_TRUE(Tcp()->Get("c-1/e1", record).ok());
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_INJECTED);
}

TEST_F(AttachTest, ARefusedSubmitIsAnsweredInPlaceAndTheStreamGoesOn) {
  auto coordinator = Attach("c-1");
  EXPECT_TRUE(coordinator->Submit("nobody", Message("e1")));
  EXPECT_TRUE(coordinator->Submit("Reviewer", Message("e2", "\x01")));
  EXPECT_TRUE(coordinator->Submit("Coordinator", Message("e3")));
  const auto answers = coordinator->frames.WaitFor(Frame::kSubmitted, 3);
  EXPECT_EQ(answers[0].submitted().failure().reason(), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(answers[1].submitted().envelope_id(), "e2");
  EXPECT_TRUE(answers[1].submitted().has_record());
  EXPECT_EQ(answers[2].submitted().failure().reason(), "SELF_TARGET");
}

TEST_F(AttachTest, TheFirstFrameIsHello) {
  AttachClient client(Tcp());
  client.Submit("Reviewer", Message("e1"));
  EXPECT_THAT(client.End(),
              EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT, "PROTOCOL"));
  EXPECT_THAT(client.frames.frames(), IsEmpty());
}

TEST_F(AttachTest, HelloComesOnce) {
  auto client = Attach("w-1");
  client->SayHello(HelloOf("w-1"));
  EXPECT_THAT(client->End(),
              EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT, "PROTOCOL"));
}

TEST_F(AttachTest, OtherFramesComeAfterWelcome) {
  const auto first = Attach("w-1");
  // The seat is taken: this one waits, and must not speak.
  AttachClient second(Tcp());
  second.SayHello(HelloOf("w-1"));
  second.SayPresent({});
  EXPECT_THAT(second.End(),
              EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT, "PROTOCOL"));
}

TEST_F(AttachTest, ARefusalSaysWhyInItsTrailers) {
  AttachClient client(Tcp());
  v1::Hello hello = HelloOf("w-1");
  hello.set_protocol_version(99);
  client.SayHello(hello);
  EXPECT_THAT(client.End(), EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT,
                                           "PROTOCOL_VERSION"));
}

TEST_F(AttachTest, ATokenTakesTheSeatOverAndTheOldStreamEnds) {
  auto first = Attach("w-1");
  v1::Hello hello = HelloOf("w-1");
  hello.set_previous_session_token(first->frames.welcome().session_token());
  AttachClient second(Tcp());
  second.SayHello(hello);
  second.StartReading();
  second.frames.WaitFor(Frame::kWelcome);
  EXPECT_THAT(first->End(),
              EndsWithReason(grpc::StatusCode::ABORTED, "SUPERSEDED"));
  EXPECT_TRUE(first->frames.frames().back().has_superseded());
}

TEST_F(AttachTest, ABrokenStreamFreesTheSeat) {
  auto first = Attach("w-1");
  AttachClient second(Tcp());
  second.SayHello(HelloOf("w-1"));
  second.StartReading();
  first->Cancel();
  second.frames.WaitFor(Frame::kWelcome);
}

TEST_F(AttachTest, ANewcomerThatGaveUpDoesNotGetTheSeat) {
  auto first = Attach("w-1");
  {
    AttachClient second(Tcp());
    second.SayHello(HelloOf("w-1"));
  }
  Leave(*first);
  auto third = Attach("w-1");
  EXPECT_EQ(third->frames.closed(), std::nullopt);
}

TEST_F(AttachTest, AFloodOfReceiptsIsReadAtThePaceOfTheBroker) {
  auto coordinator = Attach("c-1");
  v1::AttachRequest frame;
  frame.mutable_receipt()->set_delivery_id("w-1/unknown");
  frame.mutable_receipt()->set_event(v1::Receipt::EVENT_DELIVERED);
  for (int i = 0; i < 3000; ++i) ASSERT_TRUE(coordinator->Write(frame));
  EXPECT_TRUE(coordinator->Submit("Reviewer", Message("e1")));
  const auto answers = coordinator->frames.WaitFor(Frame::kSubmitted);
  EXPECT_TRUE(answers[0].submitted().has_record());
}

TEST_F(AttachTest, TwoSessionsFloodEachOtherInOrder) {
  constexpr int kMessages = 200;
  auto coordinator = Attach("c-1", InjectAtOnce);
  auto worker = Attach("w-1", InjectAtOnce);
  std::vector<std::string> expected;
  for (int i = 0; i < kMessages; ++i) {
    expected.push_back("text of e" + std::to_string(i));
  }
  std::thread flood([&] {
    for (int i = 0; i < kMessages; ++i) {
      worker->Submit("Coordinator", Message("e" + std::to_string(i)));
    }
  });
  for (int i = 0; i < kMessages; ++i) {
    coordinator->Submit("Reviewer", Message("e" + std::to_string(i)));
  }
  flood.join();
  for (AttachClient* client : {coordinator.get(), worker.get()}) {
    client->frames.WaitFor(Frame::kDelivery, kMessages);
    const auto answers = client->frames.WaitFor(Frame::kSubmitted, kMessages);
    EXPECT_THAT(client->frames.texts(), ElementsAreArray(expected));
    for (int i = 0; i < kMessages; ++i) {
      EXPECT_EQ(answers[i].submitted().envelope_id(), "e" + std::to_string(i));
      EXPECT_TRUE(answers[i].submitted().has_record());
    }
  }
}

TEST_F(AttachTest, ARecipientThatTakesNothingGetsNoMoreThanItsWindow) {
  auto silent = Attach("w-2");
  auto coordinator = Attach("c-1");
  for (int i = 0; i < 60; ++i) {
    coordinator->Submit(
        "Builder", Message("e" + std::to_string(i), std::string(10'000, 'x')));
  }
  coordinator->frames.WaitFor(Frame::kSubmitted, 60);
  silent->frames.WaitFor(Frame::kDelivery, 32);
  v1::DeliveryRecord record;
  EXPECT_TRUE(Tcp()->Get("c-1/e59", record).ok());
  EXPECT_EQ(record.wait_reason(), v1::WAIT_REASON_WINDOW);
  EXPECT_THAT(silent->frames.deliveries(), SizeIs(32));
}

TEST_F(AttachTest, ASenderThatDoesNotReadItsAnswersIsNotReadFurther) {
  constexpr int kSubmits = 5000;
  AttachClient client(Tcp());
  ASSERT_TRUE(client.SayHello(HelloOf("c-1")));
  ASSERT_TRUE(client.ReadOne());  // Welcome
  // Far more in all than what connections buffer.
  const v1::Envelope refused = Message("e", std::string(4096, 'x'));
  std::future<int> written = std::async(std::launch::async, [&] {
    int count = 0;
    while (count < kSubmits && client.Submit("nobody", refused)) ++count;
    return count;
  });
  // It must stay blocked; only a negative can be waited for.
  EXPECT_EQ(written.wait_for(std::chrono::seconds(3)),
            std::future_status::timeout);
  client.StartReading();
  EXPECT_EQ(written.get(), kSubmits);
  EXPECT_THAT(client.frames.WaitFor(Frame::kSubmitted, kSubmits),
              SizeIs(kSubmits));
}

}  // namespace
}  // namespace intercom
