// What happens to the mail of a session that is being closed.

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/routing_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DispatcherClosingTest : public RoutingRig {
 protected:
  void BeginClosing() {
    OnState([&] {
      dispatcher_.BeginClosing("bob", "broker/last");
      return true;
    });
  }
  void EndClosing() {
    OnState([&] {
      dispatcher_.EndClosing("bob");
      return true;
    });
    Sync();
  }
};

TEST_F(DispatcherClosingTest, ItIsOfferedTheExemptOneAlone) {
  const TestSession bob = AttachPeer("bob");
  BeginClosing();
  ASSERT_THAT(Accept(Message("e1")), IsOk());
  ASSERT_THAT(Accept(Message("last"), "broker"), IsOk());
  ASSERT_THAT(Accept(Message("e2")), IsOk());
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of last"));
}

TEST_F(DispatcherClosingTest, TheOthersSayThatTheyWaitForTheClose) {
  AttachPeer("bob");
  ASSERT_THAT(Accept(Message("e1")), IsOk());
  BeginClosing();
  const auto waiting = Accept(Message("e2"));
  EXPECT_EQ(waiting->wait_reason(), v1::WAIT_REASON_CLOSING);
  ASSERT_THAT(Accept(Message("last"), "broker"), IsOk());
  EXPECT_EQ(RecordOf("alice/e2").wait_reason(), v1::WAIT_REASON_CLOSING);
  // Of those on their way its host speaks.
  EXPECT_EQ(RecordOf("alice/e1").wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
  EXPECT_EQ(RecordOf("broker/last").wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
}

TEST_F(DispatcherClosingTest, TheyAreOfferedInTheirOrderWhenItIsOver) {
  const TestSession bob = AttachPeer("bob");
  ASSERT_THAT(Accept(Message("e1")), IsOk());
  BeginClosing();
  ASSERT_THAT(Accept(Message("e2")), IsOk());
  ASSERT_THAT(Accept(Message("last"), "broker"), IsOk());
  ASSERT_THAT(Accept(Message("e3")), IsOk());
  EndClosing();
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of last",
                                             "text of e2", "text of e3"));
  EXPECT_EQ(RecordOf("alice/e2").wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
}

TEST_F(DispatcherClosingTest, ACreditThatComesBackOffersNothingElse) {
  const TestSession bob = AttachPeer("bob");
  for (int i = 1; i <= 34; ++i) {
    ASSERT_THAT(Accept(Message("e" + std::to_string(i))), IsOk());
  }
  BeginClosing();
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(32));
  EndClosing();
  EXPECT_THAT(bob.link->deliveries(), SizeIs(33));
}

TEST_F(DispatcherClosingTest, TheExemptOneNeedsNoRoomAndComesOnce) {
  const TestSession bob = AttachPeer("bob");
  for (int i = 1; i <= 32; ++i) {
    ASSERT_THAT(Accept(Message("e" + std::to_string(i))), IsOk());
  }
  BeginClosing();
  ASSERT_THAT(Accept(Message("last"), "broker"), IsOk());
  ASSERT_THAT(Accept(Message("e33")), IsOk());
  ASSERT_THAT(bob.link->deliveries(), SizeIs(33));
  EXPECT_EQ(bob.link->deliveries()[32].delivery_id(), "broker/last");
  SayReceipt(bob, "broker/last", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(33));
}

TEST_F(DispatcherClosingTest, ItLastsAcrossAttachments) {
  BeginClosing();
  ASSERT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_EQ(RecordOf("alice/e1").wait_reason(), v1::WAIT_REASON_CLOSING);
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(bob.link->deliveries(), IsEmpty());
  EndClosing();
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1"));
}

TEST_F(DispatcherClosingTest, OthersMailGoesOn) {
  const TestSession carol = AttachPeer("carol");
  BeginClosing();
  ASSERT_THAT(Accept(Message("e1"), "alice", "carol"), IsOk());
  EXPECT_THAT(carol.link->texts(), ElementsAre("text of e1"));
}

}  // namespace
}  // namespace intercom
