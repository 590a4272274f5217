// What the dispatcher accepts and refuses, and what it answers.

#include <future>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/routing_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DispatcherAcceptTest : public RoutingRig {};

TEST_F(DispatcherAcceptTest, WhatIsAcceptedIsDeliveredInTheOrderOfAcceptance) {
  const TestSession bob = AttachPeer("bob");
  for (const char* id : {"e1", "e2", "e3"})
    EXPECT_THAT(Accept(Message(id)), IsOk());
  EXPECT_THAT(Accept(Message("e4"), "carol"), IsOk());
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1", "text of e2",
                                             "text of e3", "text of e4"));
  const v1::Delivery first = bob.link->deliveries()[0];
  EXPECT_EQ(first.delivery_id(), "alice/e1");
  EXPECT_EQ(first.sender().session_id(), "alice");
  EXPECT_EQ(FromProto(first.accepted_at()),
            absl::FromUnixMicros(absl::ToUnixMicros(clock_.Now())));
  EXPECT_FALSE(first.redelivered());
}

TEST_F(DispatcherAcceptTest, MailForTheAbsentWaitsAndSaysSo) {
  const auto record = Accept(Message("e1"));
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->state(), v1::DELIVERY_STATE_ACCEPTED);
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_AWAY);
  EXPECT_EQ(MailboxOf("bob").envelopes, 1);
  EXPECT_THAT(AttachPeer("bob").link->texts(), ElementsAre("text of e1"));
}

TEST_F(DispatcherAcceptTest, MailWaitsUntilTheSessionSaidWhatItHas) {
  const TestSession bob = AttachSilent("bob");
  const auto record = Accept(Message("e1"));
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_STARTING);
  EXPECT_THAT(bob.link->texts(), IsEmpty());
  SayPresent(bob, {});
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1"));
}

TEST_F(DispatcherAcceptTest, MailForARestartingSessionSaysStarting) {
  const TestSession bob = AttachPeer("bob");
  Detach(bob, v1::Goodbye::REASON_RELOAD);
  EXPECT_EQ(Accept(Message("e1"))->wait_reason(), v1::WAIT_REASON_STARTING);
  Advance(absl::Seconds(5));
  EXPECT_EQ(RecordOf("alice/e1").wait_reason(), v1::WAIT_REASON_AWAY);
}

TEST_F(DispatcherAcceptTest,
       SinceWhenItWaitsIsTheLaterOfItsOwnAndTheDeparture) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  Advance(absl::Seconds(10));
  Detach(bob);
  EXPECT_EQ(RecordOf("alice/e1").waiting_since().seconds(),
            absl::ToUnixSeconds(clock_.Now()));
  Advance(absl::Seconds(10));
  EXPECT_EQ(Accept(Message("e2"))->waiting_since().seconds(),
            absl::ToUnixSeconds(clock_.Now()));
}

TEST_F(DispatcherAcceptTest, TheSameIdAndContentGivesTheFirstAnswer) {
  const auto first = Accept(Message("e1"));
  Advance(absl::Seconds(1));
  const auto again = Accept(Message("e1"));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->sequence(), first->sequence());
  EXPECT_EQ(again->marks(0).at().seconds(), first->marks(0).at().seconds());
  EXPECT_EQ(MailboxOf("bob").envelopes, 1);
  EXPECT_THAT(AttachPeer("bob").link->texts(), SizeIs(1));
}

TEST_F(DispatcherAcceptTest, TheSameIdWithOtherContentIsRefused) {
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(
      Accept(Message("e1", "other")),
      FailsWith(absl::StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED"));
  EXPECT_THAT(
      Accept(Message("e1"), "alice", "carol"),
      FailsWith(absl::StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED"));
  // Ids of different senders are different identities.
  EXPECT_THAT(Accept(Message("e1", "other"), "carol"), IsOk());
}

TEST_F(DispatcherAcceptTest, AFailedCommitAnswersItsStatusAndDeliversNothing) {
  const TestSession bob = AttachPeer("bob");
  RecordAnswer answer;
  InFailingBatch([&] {
    answer = PostAccept(Message("e1"), SenderNamed("alice"), {"bob", "", {}});
  });
  EXPECT_FALSE(answer.Wait().ok());
  EXPECT_THAT(bob.link->texts(), IsEmpty());
  EXPECT_EQ(MailboxOf("bob").envelopes, 0);

  // The same attempt again succeeds as the first.
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  EXPECT_THAT(bob.link->texts(), ElementsAre("text of e1"));
}

TEST_F(DispatcherAcceptTest, AFullDatabaseAnswersStorageFull) {
  EXPECT_THAT(OnState([&] {
                return runner_->database().Execute("PRAGMA max_page_count = 1");
              }),
              IsOk());
  EXPECT_THAT(Accept(Message("e1", std::string(48'000, 'x'))),
              FailsWith(absl::StatusCode::kResourceExhausted, "STORAGE_FULL"));
}

TEST_F(DispatcherAcceptTest, AReplyMarksWhatItAnswers) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  v1::Envelope reply = Message("r1");
  reply.set_kind(v1::ENVELOPE_KIND_REPLY);
  reply.set_reply_to("alice/e1");
  EXPECT_THAT(Accept(reply, "bob", "alice"), IsOk());
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_REPLIED);
  EXPECT_THAT(EvidenceOf(record, v1::DELIVERY_STATE_REPLIED),
              HasSubstr("bob/r1"));
  EXPECT_EQ(MailboxOf("bob").envelopes, 0);
}

TEST_F(DispatcherAcceptTest, AReplyToWhatTheSessionHasNotGotMarksNothing) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  v1::Envelope reply = Message("r1");
  reply.set_kind(v1::ENVELOPE_KIND_REPLY);
  reply.set_reply_to("alice/e1");
  EXPECT_THAT(Accept(reply, "bob", "alice"), IsOk());
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_ACCEPTED);
  EXPECT_EQ(MailboxOf("bob").envelopes, 1);
}

TEST_F(DispatcherAcceptTest, AReplyThatIsQuickerThanTheReceiptIsMarkedWithIt) {
  const TestSession bob = AttachPeer("bob");
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  v1::Envelope reply = Message("r1");
  reply.set_kind(v1::ENVELOPE_KIND_REPLY);
  reply.set_reply_to("alice/e1");
  EXPECT_THAT(Accept(reply, "bob", "alice"), IsOk());
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  const v1::DeliveryRecord record = RecordOf("alice/e1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_REPLIED);
  EXPECT_THAT(EvidenceOf(record, v1::DELIVERY_STATE_REPLIED),
              HasSubstr("bob/r1"));
}

TEST_F(DispatcherAcceptTest, AReplyToAnothersMailMarksNothing) {
  EXPECT_THAT(Accept(Message("e1")), IsOk());
  v1::Envelope reply = Message("r1");
  reply.set_reply_to("alice/e1");
  EXPECT_THAT(Accept(reply, "mallory", "alice"), IsOk());
  EXPECT_EQ(RecordOf("alice/e1").state(), v1::DELIVERY_STATE_ACCEPTED);
}

class SmallMailboxTest : public RoutingRig {
 protected:
  static MailLimits Limits() {
    MailLimits limits;
    limits.mailbox_envelopes = 3;
    limits.mailbox_bytes = 1 << 20;
    return limits;
  }
  SmallMailboxTest() : RoutingRig(Limits()) {}
};

TEST_F(SmallMailboxTest, AFullMailboxRefusesAndEvictsNothing) {
  for (const char* id : {"e1", "e2", "e3"})
    EXPECT_THAT(Accept(Message(id)), IsOk());
  const auto refused = Accept(Message("e4"));
  EXPECT_THAT(refused,
              FailsWith(absl::StatusCode::kResourceExhausted, "MAILBOX_FULL"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("3 envelopes"));
  EXPECT_EQ(MailboxOf("bob").envelopes, 3);
  EXPECT_EQ(RecordOf("alice/e4").delivery_id(), "");
  EXPECT_THAT(Accept(Message("e1")), IsOk());  // a repeat needs no room
  EXPECT_THAT(Accept(Message("e5"), "alice", "carol"), IsOk());
}

TEST_F(SmallMailboxTest, WhatIsInjectedMakesRoom) {
  const TestSession bob = AttachPeer("bob");
  for (const char* id : {"e1", "e2", "e3"})
    EXPECT_THAT(Accept(Message(id)), IsOk());
  EXPECT_THAT(Accept(Message("e4")),
              FailsWith(absl::StatusCode::kResourceExhausted, "MAILBOX_FULL"));
  SayReceipt(bob, "alice/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(Accept(Message("e4")), IsOk());
}

class SmallMailboxBytesTest : public RoutingRig {
 protected:
  static MailLimits Limits() {
    MailLimits limits;
    limits.mailbox_bytes = 1000;
    return limits;
  }
  SmallMailboxBytesTest() : RoutingRig(Limits()) {}
};

TEST_F(SmallMailboxBytesTest, AMailboxIsFullByItsBytesToo) {
  EXPECT_THAT(Accept(Message("e1", std::string(900, 'x'))), IsOk());
  EXPECT_THAT(Accept(Message("e2", std::string(100, 'x'))),
              FailsWith(absl::StatusCode::kResourceExhausted, "MAILBOX_FULL"));
  EXPECT_EQ(RecordOf("alice/e2").delivery_id(), "");
}

TEST(DurableBeforeAnsweredTest, TheAnswerWaitsForTheDiskAndDeliveryDoesNot) {
  TempDir dir;
  FakeClock clock;
  NumberedRandom random;
  auto db = Database::Open(dir / "state.db").value();
  ASSERT_THAT(Migrate(*db, AllMigrations()), IsOk());
  std::promise<void> disk;
  std::shared_future<void> synced = disk.get_future().share();
  StateRunner::Options options;
  options.sync = [synced] {
    synced.wait();
    return absl::OkStatus();
  };
  auto runner =
      StateRunner::Create(std::move(db), clock, std::move(options)).value();
  DeliveryStore deliveries(runner->database());
  MailboxStore mailboxes(runner->database());
  Roster roster(clock);
  Dispatcher dispatcher(*runner, deliveries, mailboxes, roster, clock, random,
                        {});
  const auto link = std::make_shared<RecordingLink>();
  Attachment bob;
  bob.session_id = "bob";
  bob.epoch = 1;
  bob.link = link;
  runner->PostTask([&] { dispatcher.OnAttached(roster.Insert(bob)); });
  runner->Drain();
  dispatcher.OnPresent({"bob", 1}, {});
  runner->Drain();

  v1::Envelope envelope;
  envelope.set_envelope_id("e1");
  envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
  envelope.set_text("text");
  v1::Sender sender;
  sender.set_session_id("alice");
  Answer<absl::Status> answer;
  runner->PostCommand({[&, put = answer.Callback()](Effects& effects) {
                         effects.AfterSync([put] { put(absl::OkStatus()); });
                         return dispatcher
                             .Accept(*ValidatedEnvelope::FromClient(envelope),
                                     sender, {"bob", "", {}}, effects)
                             .status();
                       },
                       nullptr});
  link->WaitFor(v1::AttachResponse::kDelivery);
  EXPECT_EQ(answer.count(), 0);
  disk.set_value();
  EXPECT_THAT(answer.Wait(), IsOk());
  runner->Stop();
}

}  // namespace
}  // namespace intercom
