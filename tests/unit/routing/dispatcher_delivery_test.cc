// How mail moves: windows, receipts, reconciliation.

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/routing_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class DispatcherDeliveryTest : public RoutingRig {
 protected:
  void AcceptMany(int count, size_t text_bytes = 10) {
    for (int i = 1; i <= count; ++i) {
      ASSERT_THAT(Accept(Message("e" + std::to_string(i),
                                 std::string(text_bytes, 'x'))),
                  IsOk());
    }
  }
  static std::vector<std::string> Named(const TestSession& session) {
    const auto frames = session.link->Of(v1::AttachResponse::kReconcile);
    if (frames.empty()) return {"no reconcile"};
    const auto& ids = frames[0].reconcile().delivery_ids();
    return {ids.begin(), ids.end()};
  }
};

// --- Window

TEST_F(DispatcherDeliveryTest, AtMost32AreOnTheirWay) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(40);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(32));
  EXPECT_EQ(RecordOf("alice/e33").wait_reason(), v1::WAIT_REASON_WINDOW);
  EXPECT_EQ(RecordOf("alice/e32").wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
}

TEST_F(DispatcherDeliveryTest, CreditComesBackAtInjectedAndNotAtDelivered) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(34);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_DELIVERED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(32));
  SayReceipt(bob, "alice/e2", v1::Receipt::EVENT_INJECTED);
  ASSERT_THAT(bob.link->deliveries(), SizeIs(33));
  EXPECT_EQ(bob.link->deliveries()[32].delivery_id(), "alice/e33");
  SayReceipt(bob, "alice/e2", v1::Receipt::EVENT_SEEN);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(33));
}

TEST_F(DispatcherDeliveryTest, AtMostOneMebibyteIsOnItsWay) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(25, 48'000);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(21));
  EXPECT_EQ(RecordOf("alice/e22").wait_reason(), v1::WAIT_REASON_WINDOW);
  EXPECT_EQ(RecordOf("alice/e25").wait_reason(), v1::WAIT_REASON_WINDOW);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(22));
}

TEST_F(DispatcherDeliveryTest, ASmallOneDoesNotOvertakeABigOneAtTheWindow) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(22, 48'000);
  EXPECT_THAT(Accept(Message("small", "s")), IsOk());
  EXPECT_THAT(bob.link->deliveries(), SizeIs(21));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(bob.link->texts(), SizeIs(23));
  EXPECT_EQ(bob.link->deliveries()[22].delivery_id(), "alice/small");
}

TEST_F(DispatcherDeliveryTest, ALongMailboxFlowsOutAsItIsRead) {
  AcceptMany(100);
  const TestSession bob = AttachPeer("bob");
  for (size_t at = 0; at < 100; ++at) {
    ASSERT_GT(bob.link->deliveries().size(), at);
    SayReceipt(bob, bob.link->deliveries()[at].delivery_id(),
               v1::Receipt::EVENT_INJECTED);
  }
  EXPECT_THAT(bob.link->deliveries(), SizeIs(100));
  EXPECT_EQ(MailboxOf("bob").envelopes, 0);
}

// --- Receipts

TEST_F(DispatcherDeliveryTest, ReceiptsSayHowFarWithTimeAndEvidence) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_DELIVERED, "agent 7");
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_DELIVERED);
  Advance(absl::Seconds(5));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED, "entry 12");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_SEEN, "turn 3");
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_SEEN);
  ASSERT_EQ(record.marks_size(), 4);
  EXPECT_EQ(EvidenceOf(record, v1::DELIVERY_STATE_DELIVERED), "agent 7");
  EXPECT_EQ(EvidenceOf(record, v1::DELIVERY_STATE_INJECTED), "entry 12");
  EXPECT_EQ(record.marks(2).at().seconds() - record.marks(1).at().seconds(), 5);
}

TEST_F(DispatcherDeliveryTest, ReceiptsRepeatedOrLateChangeNothing) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_SEEN, "first");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_DELIVERED, "late");
  Advance(absl::Seconds(5));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_SEEN, "again");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_HELD, "",
             v1::WAIT_REASON_BUSY);
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_SEEN);
  EXPECT_EQ(EvidenceOf(record, v1::DELIVERY_STATE_SEEN), "first");
  EXPECT_EQ(record.wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(1));
}

TEST_F(DispatcherDeliveryTest, WhatTheHostHoldsSaysWhyUntilItIsInjected) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  for (const auto reason : {v1::WAIT_REASON_BUSY, v1::WAIT_REASON_COMPACTION}) {
    SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_HELD, "", reason);
    EXPECT_EQ(RecordOf("alice/e1").wait_reason(), reason);
  }
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(RecordOf("alice/e1").wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
}

TEST_F(DispatcherDeliveryTest, EvidenceIsBoundedAndPlain) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_DELIVERED,
             "\x1b[31m" + std::string(600, 'x'));
  const std::string evidence =
      EvidenceOf(RecordOf("alice/e1"), v1::DELIVERY_STATE_DELIVERED);
  EXPECT_LE(evidence.size(), 512u);
  EXPECT_THAT(evidence, Not(HasSubstr("\x1b")));
}

TEST_F(DispatcherDeliveryTest, ReceiptsForAnothersMailAreIgnored) {
  AttachPeer("bob");
  const TestSession mallory = AttachPeer("mallory");
  AcceptMany(1);
  SayReceipt(mallory, "alice/e1", v1::Receipt::EVENT_SEEN);
  SayReceipt(mallory, "no/such", v1::Receipt::EVENT_SEEN);
  SayReceipt(mallory, "alice/e1", v1::Receipt::EVENT_UNSPECIFIED);
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_ACCEPTED);
}

TEST_F(DispatcherDeliveryTest, ReceiptsOfAnOldEpochAreIgnored) {
  const TestSession first = AttachPeer("bob");
  AcceptMany(1);
  Detach(first);
  const TestSession second = AttachPeer("bob");
  SayReceipt(first, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_ACCEPTED);
  SayReceipt(second, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_INJECTED);
}

TEST_F(DispatcherDeliveryTest, AReceiptThatCouldNotBeStoredGivesNoCredit) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(33);
  InFailingBatch([&] {
    v1::Receipt receipt;
    receipt.set_delivery_id("alice/e1");
    receipt.set_event(v1::Receipt::EVENT_INJECTED);
    dispatcher_.OnReceipt(bob.key, receipt);
  });
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_ACCEPTED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(32));
}

// --- Reconciliation

TEST_F(DispatcherDeliveryTest, ReconcileNamesWhatIsOpenAndWhatWasInjected) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(3);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  SayReceipt(bob, "alice/e2", v1::Receipt::EVENT_DELIVERED);
  Detach(bob);
  const TestSession again = AttachSilent("bob");
  EXPECT_THAT(Named(again), ElementsAre("alice/e1", "alice/e2", "alice/e3"));
  ASSERT_THAT(again.link->frames(), SizeIs(2));
  EXPECT_TRUE(again.link->frames()[0].has_welcome());
  EXPECT_TRUE(again.link->frames()[1].has_reconcile());
}

TEST_F(DispatcherDeliveryTest, ReconcileIsSentEvenWithNothingToName) {
  EXPECT_THAT(Named(AttachSilent("bob")), IsEmpty());
}

TEST_F(DispatcherDeliveryTest, PresentOnesAreInjectedAndNotDeliveredAgain) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(2);
  Detach(bob);  // before any receipt of what it had
  const TestSession again = AttachSilent("bob");
  SayPresent(again, {"alice/e1"});
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_THAT(EvidenceOf(record, v1::DELIVERY_STATE_INJECTED),
              HasSubstr("at attach"));
  ASSERT_THAT(again.link->deliveries(), SizeIs(1));
  EXPECT_EQ(again.link->deliveries()[0].delivery_id(), "alice/e2");
}

TEST_F(DispatcherDeliveryTest, AbsentInjectedOnesAreDeliveredAgainMarked) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(2);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_SEEN, "turn 1");
  SayReceipt(bob, "alice/e2", v1::Receipt::EVENT_INJECTED);
  Detach(bob);
  const TestSession again = AttachSilent("bob");
  SayPresent(again, {"alice/e2"});
  ASSERT_THAT(again.link->deliveries(), SizeIs(1));
  EXPECT_EQ(again.link->deliveries()[0].delivery_id(), "alice/e1");
  EXPECT_TRUE(again.link->deliveries()[0].redelivered());
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_ACCEPTED);
  EXPECT_EQ(MailboxOf("bob").envelopes, 1);
  SayReceipt(again, "alice/e1", v1::Receipt::EVENT_INJECTED, "entry 9");
  EXPECT_EQ(EvidenceOf(RecordOf("alice/e1"), v1::DELIVERY_STATE_INJECTED),
            "entry 9");
}

TEST_F(DispatcherDeliveryTest, WhatItsAgentHadIsDeliveredAgainMarked) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_DELIVERED);
  Detach(bob);
  const TestSession again = AttachPeer("bob");
  ASSERT_THAT(again.link->deliveries(), SizeIs(1));
  EXPECT_TRUE(again.link->deliveries()[0].redelivered());
}

TEST_F(DispatcherDeliveryTest, WhatWasOnItsWayIsDeliveredAgainMarked) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  Detach(bob);
  const TestSession again = AttachPeer("bob");
  ASSERT_THAT(again.link->deliveries(), SizeIs(1));
  EXPECT_TRUE(again.link->deliveries()[0].redelivered());
}

TEST_F(DispatcherDeliveryTest, WhatWasNeverOfferedIsNotMarked) {
  AcceptMany(1);
  const TestSession bob = AttachPeer("bob");
  EXPECT_FALSE(bob.link->deliveries()[0].redelivered());
}

TEST_F(DispatcherDeliveryTest, ASecondPresentChangesNothing) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  SayPresent(bob, {});
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_THAT(bob.link->deliveries(), SizeIs(1));
}

TEST_F(DispatcherDeliveryTest, APresentOfAnOldEpochOpensNothing) {
  const TestSession first = AttachSilent("bob");
  AcceptMany(1);
  Detach(first);
  const TestSession second = AttachSilent("bob");
  SayPresent(first, {});
  EXPECT_THAT(second.link->deliveries(), IsEmpty());
}

TEST_F(DispatcherDeliveryTest, AFailedReconciliationEndsTheStream) {
  const TestSession bob = AttachSilent("bob");
  AcceptMany(1);
  InFailingBatch([&] { dispatcher_.OnPresent(bob.key, {}); });
  ASSERT_TRUE(bob.link->closed().has_value());
  EXPECT_FALSE(bob.link->closed()->ok());
  EXPECT_THAT(bob.link->deliveries(), IsEmpty());
}

// --- Failures of the host

TEST_F(DispatcherDeliveryTest, AFailureEndsItAndTellsTheSenderOnce) {
  const TestSession alice = AttachPeer("alice");
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_FAILED, "boom");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_FAILED, "boom");
  EXPECT_THAT(bob.link->deliveries(), SizeIs(1));
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.end(), v1::DELIVERY_END_DEAD_LETTERED);
  EXPECT_THAT(record.end_evidence(), HasSubstr("boom"));
  EXPECT_EQ(MailboxOf("bob").envelopes, 0);
  ASSERT_THAT(alice.link->deliveries(), SizeIs(1));
  const v1::Delivery notice = alice.link->deliveries()[0];
  EXPECT_EQ(notice.envelope().kind(), v1::ENVELOPE_KIND_NOTICE);
  EXPECT_EQ(notice.envelope().topic(), "DEAD_LETTERED");
  EXPECT_THAT(notice.envelope().text(),
              AllOf(HasSubstr("e1"), HasSubstr("boom")));
  EXPECT_EQ(notice.sender().origin(), v1::ORIGIN_BROKER);
}

TEST_F(DispatcherDeliveryTest, AFailureMakesRoomForTheNext) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(33);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_FAILED, "boom");
  ASSERT_THAT(bob.link->deliveries(), SizeIs(33));
  EXPECT_EQ(bob.link->deliveries()[32].delivery_id(), "alice/e33");
}

TEST_F(DispatcherDeliveryTest, TheSenderIsToldOfEachDeadLetter) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(2);
  for (const char* id : {"alice/e1", "alice/e2"}) {
    SayReceipt(bob, id, v1::Receipt::EVENT_FAILED, "boom");
  }
  EXPECT_THAT(AttachPeer("alice").link->texts(),
              ElementsAre(HasSubstr("e1"), HasSubstr("e2")));
}

TEST_F(DispatcherDeliveryTest, ADeadNoticeMakesNoNotice) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Notice("alice", "STATUS", "idle"), IsOk());
  const std::string id = bob.link->deliveries()[0].delivery_id();
  SayReceipt(bob, id, v1::Receipt::EVENT_FAILED, "boom");
  EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_DEAD_LETTERED);
  EXPECT_EQ(MailboxOf("alice").envelopes, 0);
}

TEST_F(DispatcherDeliveryTest, AProofOfInjectionOverridesAnEnd) {
  const TestSession bob = AttachPeer("bob");
  AcceptMany(1);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_FAILED, "boom");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED, "it did come");
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_EQ(record.end(), v1::DELIVERY_END_UNSPECIFIED);
  EXPECT_EQ(MailboxOf("bob").envelopes, 0);
}

class FullSenderTest : public RoutingRig {
 protected:
  static MailLimits Limits() {
    MailLimits limits;
    limits.mailbox_envelopes = 1;
    return limits;
  }
  FullSenderTest() : RoutingRig(Limits()) {}
};

TEST_F(FullSenderTest, ADeadLetterEndsEvenIfItsSendersMailboxIsFull) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("full"), "carol", "alice"), IsOk());
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_FAILED, "boom");
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_DEAD_LETTERED);
  EXPECT_EQ(MailboxOf("alice").envelopes, 1);
}

TEST_F(FullSenderTest, ExpiryGoesOnEvenIfASendersMailboxIsFull) {
  EXPECT_THAT(Accept(Message("full"), "carol", "alice"), IsOk());
  EXPECT_THAT(PostAccept(Message("e1"), SenderNamed("alice"),
                         {"bob", "", absl::Hours(24)})
                  .Wait(),
              IsOk());
  EXPECT_THAT(PostAccept(Message("e1"), SenderNamed("dave"),
                         {"erin", "", absl::Hours(24)})
                  .Wait(),
              IsOk());
  Advance(absl::Hours(24));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_EQ(RecordOf("dave/e1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_EQ(MailboxOf("dave").envelopes, 1);
}

}  // namespace
}  // namespace intercom
