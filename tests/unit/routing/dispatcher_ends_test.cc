// How deliveries end without reaching a session: withdrawn, superseded,
// expired; and how notices coalesce.

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/routing_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DispatcherEndsTest : public RoutingRig {
 protected:
  static v1::Envelope Superseding(const std::string& id,
                                  const std::string& earlier) {
    v1::Envelope envelope = Message(id);
    envelope.set_supersedes(earlier);
    return envelope;
  }
  static std::vector<std::string> Withdrawals(const TestSession& session) {
    std::vector<std::string> ids;
    for (const auto& frame : session.link->Of(v1::AttachResponse::kWithdraw)) {
      ids.push_back(frame.withdraw().delivery_id());
    }
    return ids;
  }
};

// --- Withdrawal

TEST_F(DispatcherEndsTest, WhatIsQueuedIsWithdrawnAtOnce) {
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Withdraw("alice/e1").Wait(), IsOk());
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_EQ(record.end_evidence(), "asked to");
  EXPECT_EQ(record.wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
  EXPECT_EQ(MailboxOf("bob").envelopes, 0);
  EXPECT_THAT(AttachPeer("bob").link->texts(), IsEmpty());
}

TEST_F(DispatcherEndsTest, WhatIsOfferedIsAskedForAtItsHost) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto answer = Withdraw("alice/e1");
  EXPECT_EQ(answer.count(), 0);
  EXPECT_THAT(Withdrawals(bob), ElementsAre("alice/e1"));
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_UNSPECIFIED);

  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_THAT(answer.Wait(), IsOk());
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_CANCELLED);
}

TEST_F(DispatcherEndsTest, AHostMaySayThatItIsTooLate) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto answer = Withdraw("alice/e1");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_TOO_LATE);
  EXPECT_THAT(answer.Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_UNSPECIFIED);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_INJECTED);
}

TEST_F(DispatcherEndsTest, TwoWhoWithdrawAskTheHostOnce) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto first = Withdraw("alice/e1");
  const auto second = Withdraw("alice/e1");
  EXPECT_THAT(Withdrawals(bob), SizeIs(1));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_THAT(first.Wait(), IsOk());
  EXPECT_THAT(second.Wait(), IsOk());
}

TEST_F(DispatcherEndsTest, AHostThatSaysNothingFor5SecondsLeavesItUnknown) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto answer = Withdraw("alice/e1");
  Advance(absl::Seconds(5) - absl::Milliseconds(1));
  EXPECT_EQ(answer.count(), 0);
  Advance(absl::Milliseconds(1));
  EXPECT_THAT(answer.Wait(), FailsWith(absl::StatusCode::kDeadlineExceeded,
                                       "OUTCOME_UNKNOWN"));
  // Its late word still counts.
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_EQ(answer.count(), 1);
}

TEST_F(DispatcherEndsTest, ALaterWithdrawalHasATimeOfItsOwn) {
  AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto first = Withdraw("alice/e1");
  Advance(absl::Seconds(5));
  EXPECT_EQ(first.count(), 1);
  const auto second = Withdraw("alice/e1");
  Advance(absl::Seconds(4));
  EXPECT_EQ(second.count(), 0);
  Advance(absl::Seconds(1));
  EXPECT_EQ(second.count(), 1);
}

TEST_F(DispatcherEndsTest, ARecipientThatLeavesLeavesItUnknown) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto answer = Withdraw("alice/e1");
  Detach(bob);
  EXPECT_THAT(answer.Wait(), FailsWith(absl::StatusCode::kDeadlineExceeded,
                                       "OUTCOME_UNKNOWN"));
  // It may have arrived; it does not come again.
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_THAT(AttachPeer("bob").link->texts(), IsEmpty());
}

TEST_F(DispatcherEndsTest, WhatWasOnItsWayToOneWhoLeftIsEndedAsUnknown) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  Detach(bob);
  EXPECT_THAT(Accept(Message("e2")), IsOk());
  EXPECT_THAT(
      Withdraw("alice/e1").Wait(),
      FailsWith(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN"));
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_CANCELLED);
  // The other was never offered.
  EXPECT_THAT(Withdraw("alice/e2").Wait(), IsOk());
  EXPECT_THAT(AttachPeer("bob").link->texts(), IsEmpty());
}

TEST_F(DispatcherEndsTest, WhatIsFoundInTheSessionAtAttachHasNotEnded) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Message("e2")), IsOk());
  Detach(bob);
  EXPECT_FALSE(Withdraw("alice/e1").Wait().ok());
  EXPECT_THAT(Accept(Superseding("e3", "e2")), IsOk());
  EXPECT_EQ(RecordOf("alice/e2").end(), v1::DELIVERY_END_SUPERSEDED);

  SayPresent(AttachSilent("bob"), {"alice/e1", "alice/e2"});
  for (const char* id : {"alice/e1", "alice/e2"}) {
    EXPECT_EQ(RecordOf(id).state(), v1::DELIVERY_STATE_INJECTED);
    EXPECT_EQ(RecordOf(id).end(), v1::DELIVERY_END_UNSPECIFIED);
  }
}

TEST_F(DispatcherEndsTest, WhatAnEarlierBrokerMayHaveOfferedIsUnknown) {
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Message("e2")), IsOk());
  EXPECT_THAT(OnState([&] { return dispatcher_.Load(); }), IsOk());
  EXPECT_THAT(Accept(Message("e3")), IsOk());
  EXPECT_THAT(
      Withdraw("alice/e1").Wait(),
      FailsWith(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN"));
  EXPECT_THAT(Withdraw("alice/e3").Wait(), IsOk());
}

TEST_F(DispatcherEndsTest, WhatIsInTheSessionOrEndedIsTooLate) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Message("e2"), "alice", "carol"), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(Withdraw("alice/e1").Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
  EXPECT_THAT(Withdraw("alice/e2").Wait(), IsOk());
  EXPECT_THAT(Withdraw("alice/e2").Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
}

TEST_F(DispatcherEndsTest, AnUnknownEnvelopeIsNotFound) {
  EXPECT_THAT(Withdraw("alice/none").Wait(),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE"));
}

TEST_F(DispatcherEndsTest, AProofOfInjectionOverridesAWithdrawal) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto answer = Withdraw("alice/e1");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_THAT(answer.Wait(), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_UNSPECIFIED);
}

TEST_F(DispatcherEndsTest, AWithdrawalThatRacesTheInjectionIsTooLate) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto answer = Withdraw("alice/e1");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_THAT(answer.Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
}

// --- Supersession

TEST_F(DispatcherEndsTest, AQueuedEnvelopeIsSupersededAtOnce) {
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_SUPERSEDED);
  EXPECT_THAT(RecordOf("alice/e1").end_evidence(), HasSubstr("alice/e2"));
  EXPECT_THAT(AttachPeer("bob").link->texts(), ElementsAre("text of e2"));
}

TEST_F(DispatcherEndsTest, ASupersedingOneWaitsForTheHostsWord) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto record = Accept(Superseding("e2", "e1"));
  EXPECT_THAT(Accept(Message("e3")), IsOk());
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_SUPERSEDING);
  EXPECT_THAT(Withdrawals(bob), ElementsAre("alice/e1"));
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1"));

  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_SUPERSEDED);
  EXPECT_THAT(bob.link->texts(),
              ElementsAre("text of e1", "text of e2", "text of e3"));
}

TEST_F(DispatcherEndsTest, OthersMailDoesNotWaitForASuperseding) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  EXPECT_THAT(Accept(Message("e3")), IsOk());
  EXPECT_THAT(Accept(Message("c1"), "carol"), IsOk());
  EXPECT_EQ(RecordOf("alice/e3").wait_reason(), v1::WAIT_REASON_SUPERSEDING);
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of c1"));

  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of c1",
                                             "text of e2", "text of e3"));
  SayReceipt(bob, "carol/c1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(bob.link->texts(), SizeIs(4));
}

TEST_F(DispatcherEndsTest, TheLatestOfManyRevisionsArrivesAlone) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e3", "e2")), IsOk());
  EXPECT_EQ(RecordOf("alice/e2").end(), v1::DELIVERY_END_SUPERSEDED);
  EXPECT_THAT(bob.link->texts(), SizeIs(1));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of e3"));
}

TEST_F(DispatcherEndsTest, ASupersedingIsKeptWhenItsRecipientLeaves) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  Detach(bob);
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_SUPERSEDED);
  EXPECT_THAT(AttachPeer("bob").link->texts(), ElementsAre("text of e2"));
}

TEST_F(DispatcherEndsTest, ASupersedingIsKeptWhenTheHostIsSilentAndLeaves) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  Advance(absl::Seconds(5));
  Detach(bob);
  const TestSession again = AttachPeer("bob");
  EXPECT_THAT(again.link->texts(), ElementsAre("text of e2"));
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_SUPERSEDED);
  // The session had them after all.
  Detach(again);
  SayPresent(AttachSilent("bob"), {"alice/e1", "alice/e2"});
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_INJECTED);
}

// Its sender withdrew it before, and it has arrived meanwhile.
TEST_F(DispatcherEndsTest, SupersedingWhatIsBeingWithdrawnStopsNobody) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  const auto withdrawal = Withdraw("alice/e1");
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  EXPECT_THAT(Accept(Message("e3")), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_TOO_LATE);
  EXPECT_FALSE(withdrawal.Wait().ok());
  Sync();
  EXPECT_THAT(bob.link->texts(),
              ElementsAre("text of e1", "text of e2", "text of e3"));
}

TEST_F(DispatcherEndsTest, ALateWordStillSaysSuperseded) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  Advance(absl::Seconds(5));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_SUPERSEDED);
}

// An earlier broker was killed before the host answered.
TEST_F(DispatcherEndsTest, ASupersedingOfAnEarlierBrokerIsAskedForAtAttach) {
  OnState([&] {
    for (const auto& envelope : {Message("e1"), Superseding("e2", "e1")}) {
      NewDelivery delivery;
      delivery.envelope = envelope;
      delivery.sender = SenderNamed("alice");
      delivery.recipient_session_id = "bob";
      delivery.accepted_at = clock_.Now();
      EXPECT_THAT(deliveries_.Insert(delivery), IsOk());
    }
    return 0;
  });
  EXPECT_THAT(Accept(Message("c1"), "carol"), IsOk());
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Withdrawals(bob), ElementsAre("alice/e1"));
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of c1"));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_SUPERSEDED);
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of c1", "text of e2"));
}

TEST_F(DispatcherEndsTest, BothArriveInOrderWhenItIsTooLate) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_TOO_LATE);
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of e2"));
}

TEST_F(DispatcherEndsTest, ASilentHostHoldsTheNewerFor5SecondsOnly) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(Accept(Superseding("e2", "e1")), IsOk());
  Advance(absl::Seconds(5));
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of e2"));
}

TEST_F(DispatcherEndsTest, OnlyOnesOwnMailToTheSameRecipientIsSuperseded) {
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(
      Accept(Superseding("e2", "e1"), "carol"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "SUPERSEDES_OTHER"));
  EXPECT_THAT(
      Accept(Superseding("e3", "e1"), "alice", "dave"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "SUPERSEDES_OTHER"));
  EXPECT_THAT(
      Accept(Superseding("e4", "never")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "SUPERSEDES_OTHER"));
  EXPECT_EQ(MailboxOf("bob").envelopes, 1);
}

TEST_F(DispatcherEndsTest, WhatHasArrivedIsNotSuperseded) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  const auto record = Accept(Superseding("e2", "e1"));
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
  EXPECT_THAT(bob.link->texts(), SizeIs(2));
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_INJECTED);
}

// --- Expiry

TEST_F(DispatcherEndsTest, MailThatExpiredEndsAndItsSenderIsTold) {
  const TestSession alice = AttachPeer("alice");
  EXPECT_THAT(PostAccept(Message("e1"), SenderNamed("alice"),
                         {"bob", "Bob", absl::Hours(24)})
                  .Wait(),
              IsOk());
  EXPECT_THAT(Accept(Message("keeps")), IsOk());
  Advance(absl::Hours(24) - absl::Seconds(1));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_UNSPECIFIED);
  Advance(absl::Seconds(1));
  dispatcher_.ExpireDue();
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_EQ(RecordOf("alice/keeps").end(), v1::DELIVERY_END_UNSPECIFIED);
  ASSERT_THAT(alice.link->deliveries(), SizeIs(1));
  EXPECT_EQ(alice.link->deliveries()[0].envelope().topic(), "EXPIRED");
  EXPECT_THAT(alice.link->texts()[0], HasSubstr("e1 to Bob"));
}

TEST_F(DispatcherEndsTest, TheSenderIsToldOfEachThatExpired) {
  for (const char* id : {"e1", "e2"}) {
    EXPECT_THAT(PostAccept(Message(id), SenderNamed("alice"),
                           {"bob", "Bob", absl::Hours(24)})
                    .Wait(),
                IsOk());
  }
  Advance(absl::Hours(24));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_THAT(AttachPeer("alice").link->texts(),
              ElementsAre(HasSubstr("e1"), HasSubstr("e2")));
}

TEST_F(DispatcherEndsTest, WhatAPeerIsToldOfAnEndDoesNotWaitForEver) {
  v1::Sender peer = SenderNamed("alice");
  peer.set_role(v1::ROLE_PEER);
  for (const v1::Sender& sender : {peer, SenderNamed("worker")}) {
    EXPECT_THAT(
        PostAccept(Message("e1"), sender, {"bob", "Bob", absl::Hours(24)})
            .Wait(),
        IsOk());
  }
  for (int day = 0; day < 2; ++day) {
    Advance(absl::Hours(24));
    dispatcher_.ExpireDue();
    Sync();
    EXPECT_EQ(MailboxOf("alice").envelopes, day == 0 ? 1 : 0);
    EXPECT_EQ(MailboxOf("worker").envelopes, 1);
  }
}

TEST_F(DispatcherEndsTest, WhatIsOnItsWayDoesNotExpire) {
  AttachPeer("bob");
  EXPECT_THAT(PostAccept(Message("e1"), SenderNamed("alice"),
                         {"bob", "Bob", absl::Hours(24)})
                  .Wait(),
              IsOk());
  Advance(absl::Hours(25));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("alice/e1").end(), v1::DELIVERY_END_UNSPECIFIED);
}

TEST_F(DispatcherEndsTest, WhatIsOnItsWayDoesNotKeepTheRestFromExpiring) {
  const auto accept = [&](const std::string& id, const std::string& to) {
    EXPECT_THAT(
        PostAccept(Message(id), SenderNamed("alice"), {to, to, absl::Hours(24)})
            .Wait(),
        IsOk());
  };
  for (int session = 0; session < 4; ++session) {
    const std::string to = "s" + std::to_string(session);
    AttachPeer(to);
    for (int i = 0; i < 32; ++i) accept(to + "-" + std::to_string(i), to);
  }
  accept("waits", "bob");
  Advance(absl::Hours(24));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("alice/waits").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_EQ(RecordOf("alice/s0-0").end(), v1::DELIVERY_END_UNSPECIFIED);
}

TEST_F(DispatcherEndsTest, APersonIsToldInTheirMailbox) {
  v1::Sender person;
  person.set_session_id("person:1000");
  person.set_origin(v1::ORIGIN_PERSON);
  EXPECT_THAT(
      PostAccept(Message("e1"), person, {"bob", "Bob", absl::Hours(24)}).Wait(),
      IsOk());
  Advance(absl::Hours(24));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("person:1000/e1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_EQ(MailboxOf("person:1000").envelopes, 1);
  // There it waits until it is read.
  Advance(10 * kUnconfiguredKept);
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(MailboxOf("person:1000").envelopes, 1);
}

TEST_F(DispatcherEndsTest, AClientIsNotToldByMail) {
  v1::Sender client = SenderNamed("client:1");
  client.set_origin(v1::ORIGIN_CLIENT);
  EXPECT_THAT(
      PostAccept(Message("e1"), client, {"bob", "Bob", absl::Hours(24)}).Wait(),
      IsOk());
  Advance(absl::Hours(24));
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(MailboxOf("client:1").envelopes, 0);
}

// --- Notices

TEST_F(DispatcherEndsTest, AnIdenticalNoticeThatWaitsStands) {
  EXPECT_THAT(Notice("w-1", "STATUS", "idle"), IsOk());
  EXPECT_THAT(Notice("w-1", "STATUS", "idle"), IsOk());
  EXPECT_THAT(AttachPeer("bob").link->texts(), ElementsAre("idle"));
}

TEST_F(DispatcherEndsTest, TheLastNoticeIsWhatIsTrueNow) {
  const TestSession bob = AttachPeer("bob");
  for (const char* text : {"idle", "busy", "idle"}) {
    EXPECT_THAT(Notice("alice", "STATUS", text), IsOk());
  }
  EXPECT_THAT(bob.link->texts(), ElementsAre("idle", "busy", "idle"));
  // The host need not show the older ones.
  ASSERT_THAT(Withdrawals(bob), SizeIs(2));
  SayReceipt(bob, Withdrawals(bob)[0], v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(RecordOf(Withdrawals(bob)[0]).end(), v1::DELIVERY_END_SUPERSEDED);
}

TEST_F(DispatcherEndsTest, ANewerNoticeReplacesTheOneThatWaits) {
  EXPECT_THAT(Notice("w-1", "STATUS", "idle"), IsOk());
  EXPECT_THAT(Notice("w-1", "STATUS", "busy"), IsOk());
  EXPECT_THAT(Notice("w-2", "STATUS", "idle"), IsOk());
  EXPECT_THAT(Notice("w-1", "REGISTRATION", "here"), IsOk());
  EXPECT_THAT(AttachPeer("bob").link->texts(),
              ElementsAre("busy", "idle", "here"));
}

TEST_F(DispatcherEndsTest, ANoticeOnItsWayIsFollowedByTheNewer) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Notice("w-1", "STATUS", "idle"), IsOk());
  EXPECT_THAT(Notice("w-1", "STATUS", "busy"), IsOk());
  EXPECT_THAT(bob.link->texts(), ElementsAre("idle", "busy"));
  EXPECT_TRUE(bob.link->deliveries()[0].envelope().quiet());
}

TEST_F(DispatcherEndsTest, NoticesThatAreNoLongerTrueAreWithdrawn) {
  EXPECT_THAT(Notice("w-1", "REGISTRATION", "here"), IsOk());
  EXPECT_THAT(Notice("w-2", "REGISTRATION", "here"), IsOk());
  runner_->PostTask([&] {
    dispatcher_.WithdrawNotices("bob", "REGISTRATION", "w-1", [] {});
  });
  Sync();
  const TestSession bob = AttachPeer("bob");
  ASSERT_THAT(bob.link->deliveries(), SizeIs(1));
  EXPECT_EQ(bob.link->deliveries()[0].sender().session_id(), "w-2");
}

}  // namespace
}  // namespace intercom
