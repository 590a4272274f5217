#include "broker/storage/delivery_store.h"

#include "absl/strings/str_cat.h"
#include "broker/storage/mailbox_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

MATCHER_P(EnvelopeIs, id, "is the delivery of that envelope") {
  return arg.envelope().envelope_id() == id;
}

class DeliveryStoreTest : public ::testing::Test {
 protected:
  // Inserts and returns the sequence.
  int64_t Insert(NewDelivery delivery) {
    const v1::DeliveryRecord record =
        store_.Insert(std::move(delivery)).value().record;
    ids_[record.sequence()] = record.delivery_id();
    return record.sequence();
  }
  DeliveryChange Mark(int64_t sequence, v1::DeliveryState state,
                      absl::Time at = kNow) {
    return store_.Mark(sequence, state, at, "because").value();
  }
  v1::DeliveryRecord Record(int64_t sequence) {
    const auto id = ids_.find(sequence);
    return store_.Find(id->second).value().value();
  }
  int64_t Waiting(const std::string& recipient = "bob") {
    return mailboxes_.Find(recipient).value().envelopes;
  }

  // Delivery ids by sequence.
  std::map<int64_t, std::string> ids_;
  std::unique_ptr<Database> db_ = MigratedInMemory();
  DeliveryStore store_{*db_};
  MailboxStore mailboxes_{*db_};
};

TEST_F(DeliveryStoreTest, WhatInsertReturnsIsWhatIsStored) {
  NewDelivery delivery = MessageTo("bob", "e1");
  delivery.envelope.set_topic("TOPIC");
  delivery.envelope.set_reply_to("carol/e0");
  delivery.envelope.set_quiet(true);
  delivery.envelope.set_supersedes("e0");
  delivery.expires_at = kNow + absl::Hours(24);
  delivery.wait_reason = v1::WAIT_REASON_AWAY;

  const auto inserted = store_.Insert(delivery);

  ASSERT_THAT(inserted, IsOk());
  EXPECT_FALSE(inserted->existed);
  EXPECT_EQ(inserted->record.delivery_id(), "alice/e1");
  EXPECT_EQ(store_.Find("alice/e1").value().value().SerializeAsString(),
            inserted->record.SerializeAsString());
  EXPECT_EQ(inserted->record.envelope().SerializeAsString(),
            delivery.envelope.SerializeAsString());
}

TEST_F(DeliveryStoreTest, ARepeatGivesTheFirstRecordAsItIsNow) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  Mark(sequence, v1::DELIVERY_STATE_INJECTED);
  NewDelivery again = MessageTo("bob", "e1");
  again.accepted_at = kNow + absl::Hours(1);

  const auto repeat = store_.Insert(again);

  ASSERT_THAT(repeat, IsOk());
  EXPECT_TRUE(repeat->existed);
  EXPECT_EQ(repeat->record.sequence(), sequence);
  EXPECT_EQ(repeat->record.state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(DeliveryStoreTest, TheSameIdOfAnotherSenderIsAnotherEnvelope) {
  Insert(MessageTo("bob", "e1"));
  NewDelivery other = MessageTo("bob", "e1");
  other.sender.set_session_id("carol");
  EXPECT_FALSE(store_.Insert(other).value().existed);
  EXPECT_EQ(Waiting(), 2);
}

struct Difference {
  std::string name;
  std::function<void(NewDelivery&)> make;
};
void PrintTo(const Difference& difference, std::ostream* out) {
  *out << difference.name;
}

class ReusedIdTest : public DeliveryStoreTest,
                     public ::testing::WithParamInterface<Difference> {};

TEST_P(ReusedIdTest, AnIdReusedForOtherContentIsRefused) {
  Insert(MessageTo("bob", "e1"));
  NewDelivery other = MessageTo("bob", "e1");
  GetParam().make(other);
  EXPECT_THAT(store_.Insert(other),
              FailsWith(StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED"));
}

INSTANTIATE_TEST_SUITE_P(
    Fields, ReusedIdTest,
    ::testing::Values(
        Difference{
            "kind",
            [](NewDelivery& d) { d.envelope.set_kind(v1::ENVELOPE_KIND_ASK); }},
        Difference{"text",
                   [](NewDelivery& d) { d.envelope.set_text("other"); }},
        Difference{"topic", [](NewDelivery& d) { d.envelope.set_topic("T"); }},
        Difference{"reply_to",
                   [](NewDelivery& d) { d.envelope.set_reply_to("x/y"); }},
        Difference{"quiet", [](NewDelivery& d) { d.envelope.set_quiet(true); }},
        Difference{"supersedes",
                   [](NewDelivery& d) { d.envelope.set_supersedes("e0"); }},
        Difference{"recipient",
                   [](NewDelivery& d) { d.recipient_session_id = "carol"; }}),
    [](const auto& info) { return info.param.name; });

TEST_F(DeliveryStoreTest, OpenOnesComeInOrderAfterTheGivenSequence) {
  const int64_t first = Insert(MessageTo("bob", "e1"));
  Insert(MessageTo("carol", "e2"));
  const int64_t injected = Insert(MessageTo("bob", "e3"));
  const int64_t ended = Insert(MessageTo("bob", "e4"));
  Insert(MessageTo("bob", "e5"));
  Insert(MessageTo("bob", "e6"));
  Mark(injected, v1::DELIVERY_STATE_INJECTED);
  ASSERT_TRUE(
      store_.End(ended, v1::DELIVERY_END_CANCELLED, kNow, "asked").value());

  EXPECT_THAT(store_.NextOpen("bob", 0, 2).value(),
              ElementsAre(EnvelopeIs("e1"), EnvelopeIs("e5")));
  EXPECT_THAT(store_.NextOpen("bob", first, 9).value(),
              ElementsAre(EnvelopeIs("e5"), EnvelopeIs("e6")));
}

TEST_F(DeliveryStoreTest, AStateNeverGoesBackAndKeepsItsOwnTime) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  Mark(sequence, v1::DELIVERY_STATE_SEEN, kNow + absl::Seconds(3));
  Mark(sequence, v1::DELIVERY_STATE_DELIVERED, kNow + absl::Seconds(4));
  Mark(sequence, v1::DELIVERY_STATE_SEEN, kNow + absl::Seconds(5));

  const v1::DeliveryRecord record = Record(sequence);

  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_SEEN);
  ASSERT_THAT(record.marks(), SizeIs(3));
  EXPECT_EQ(record.marks(1).state(), v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(record.marks(2).at().seconds(), absl::ToUnixSeconds(kNow) + 3);
  EXPECT_EQ(record.marks(2).evidence(), "because");
}

TEST_F(DeliveryStoreTest, ADeliveryLeavesTheMailboxOnceWhenInjectedOrLater) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  ASSERT_THAT(store_.SetWait(sequence, v1::WAIT_REASON_COMPACTION, kNow),
              IsOk());

  const DeliveryChange delivered = Mark(sequence, v1::DELIVERY_STATE_DELIVERED);
  EXPECT_FALSE(delivered.left_mailbox);
  EXPECT_EQ(Waiting(), 1);

  const DeliveryChange seen = Mark(sequence, v1::DELIVERY_STATE_SEEN);
  EXPECT_TRUE(seen.left_mailbox);
  EXPECT_EQ(seen.before.state, v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(seen.after.state, v1::DELIVERY_STATE_SEEN);
  EXPECT_EQ(seen.after.recipient_session_id, "bob");
  EXPECT_EQ(Waiting(), 0);
  EXPECT_EQ(mailboxes_.Find("bob").value().bytes, 0);
  EXPECT_EQ(Record(sequence).wait_reason(), v1::WAIT_REASON_UNSPECIFIED);

  EXPECT_FALSE(Mark(sequence, v1::DELIVERY_STATE_INJECTED).left_mailbox);
  EXPECT_FALSE(Mark(sequence, v1::DELIVERY_STATE_REPLIED).left_mailbox);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(DeliveryStoreTest, AProofOfInjectionOverridesAnEnd) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  ASSERT_TRUE(
      store_.End(sequence, v1::DELIVERY_END_EXPIRED, kNow, "late").value());
  EXPECT_EQ(Waiting(), 0);
  EXPECT_EQ(Record(sequence).end(), v1::DELIVERY_END_EXPIRED);

  const DeliveryChange change = Mark(sequence, v1::DELIVERY_STATE_INJECTED);

  EXPECT_FALSE(change.left_mailbox);
  EXPECT_EQ(change.before.end, v1::DELIVERY_END_EXPIRED);
  EXPECT_EQ(Waiting(), 0);
  const v1::DeliveryRecord record = Record(sequence);
  EXPECT_EQ(record.end(), v1::DELIVERY_END_UNSPECIFIED);
  EXPECT_FALSE(record.has_ended_at());
  EXPECT_EQ(record.end_evidence(), "");
}

TEST_F(DeliveryStoreTest, OnlyAnOpenDeliveryEnds) {
  const int64_t injected = Insert(MessageTo("bob", "e1"));
  Mark(injected, v1::DELIVERY_STATE_INJECTED);
  EXPECT_FALSE(
      store_.End(injected, v1::DELIVERY_END_CANCELLED, kNow, "").value());

  const int64_t ended = Insert(MessageTo("bob", "e2"));
  EXPECT_TRUE(
      store_.End(ended, v1::DELIVERY_END_CANCELLED, kNow, "first").value());
  EXPECT_FALSE(
      store_.End(ended, v1::DELIVERY_END_EXPIRED, kNow, "second").value());
  EXPECT_EQ(Record(ended).end_evidence(), "first");
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(DeliveryStoreTest, AWaitKeepsItsTimeWhileTheReasonStays) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  const int64_t other = Insert(MessageTo("carol", "e2"));
  ASSERT_THAT(store_.SetWait(sequence, v1::WAIT_REASON_AWAY, kNow), IsOk());
  ASSERT_THAT(
      store_.SetWait(sequence, v1::WAIT_REASON_AWAY, kNow + absl::Hours(1)),
      IsOk());
  EXPECT_EQ(Record(sequence).waiting_since().seconds(),
            absl::ToUnixSeconds(kNow));
  EXPECT_EQ(Record(other).wait_reason(), v1::WAIT_REASON_UNSPECIFIED);

  ASSERT_THAT(store_.SetWait(sequence, v1::WAIT_REASON_UNSPECIFIED,
                             kNow + absl::Hours(2)),
              IsOk());
  EXPECT_FALSE(Record(sequence).has_waiting_since());
}

TEST_F(DeliveryStoreTest, AnUninjectedDeliveryIsOpenAgainAndSaysWhy) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  Mark(sequence, v1::DELIVERY_STATE_DELIVERED);
  Mark(sequence, v1::DELIVERY_STATE_INJECTED);

  const auto change =
      store_.MarkUninjected(sequence, kNow, "the session does not have it");

  ASSERT_THAT(change, IsOk());
  EXPECT_TRUE(change->after.open());
  EXPECT_EQ(Waiting(), 1);
  EXPECT_THAT(store_.NextOpen("bob", 0, 9).value(), SizeIs(1));
  const v1::DeliveryRecord record = Record(sequence);
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_ACCEPTED);
  ASSERT_THAT(record.marks(), SizeIs(1));
  EXPECT_THAT(record.marks(0).evidence(),
              HasSubstr("the session does not have it"));

  EXPECT_TRUE(Mark(sequence, v1::DELIVERY_STATE_INJECTED).left_mailbox);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(DeliveryStoreTest, WhatIsNotInjectedCannotBeUninjected) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  ASSERT_TRUE(
      store_.End(sequence, v1::DELIVERY_END_CANCELLED, kNow, "").value());
  ASSERT_THAT(store_.MarkUninjected(sequence, kNow, "absent"), IsOk());
  EXPECT_EQ(Record(sequence).end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_EQ(Waiting(), 0);
}

TEST_F(DeliveryStoreTest, AcceptanceSaysWhereItIsStored) {
  const v1::DeliveryRecord record =
      store_.Insert(MessageTo("bob", "e1")).value().record;
  EXPECT_EQ(record.marks(0).evidence(), "stored as number 1");
  EXPECT_EQ(store_.Find("alice/e1").value()->marks(0).evidence(),
            record.marks(0).evidence());
}

TEST_F(DeliveryStoreTest, AStatusIsTheRecordWithoutItsEnvelope) {
  const int64_t sequence = Insert(MessageTo("bob", "e1"));
  Mark(sequence, v1::DELIVERY_STATE_DELIVERED);
  const auto status = store_.FindStatus("alice/e1").value();
  ASSERT_TRUE(status.has_value());
  const DeliveryStatus same = StatusOf(Record(sequence));
  EXPECT_EQ(status->sequence, same.sequence);
  EXPECT_EQ(status->recipient_session_id, "bob");
  EXPECT_EQ(status->state, v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(status->bytes, same.bytes);
  EXPECT_TRUE(status->open());
  EXPECT_EQ(store_.FindStatus("alice/e2").value(), std::nullopt);
  EXPECT_EQ(store_.FindStatus("e1").value(), std::nullopt);
}

TEST_F(DeliveryStoreTest, SupersededOnesAreOpenAndOfTheSameSender) {
  NewDelivery newer = MessageTo("bob", "e3");
  newer.envelope.set_supersedes("e2");
  NewDelivery of_another = MessageTo("bob", "e4");
  of_another.sender.set_session_id("carol");
  of_another.envelope.set_supersedes("e1");
  Insert(MessageTo("bob", "e1"));
  const int64_t earlier = Insert(MessageTo("bob", "e2"));
  Insert(newer);
  Insert(of_another);
  EXPECT_THAT(store_.Superseded("bob").value(), ElementsAre(EnvelopeIs("e2")));
  EXPECT_THAT(store_.Superseded("carol").value(), IsEmpty());
  Mark(earlier, v1::DELIVERY_STATE_INJECTED);
  EXPECT_THAT(store_.Superseded("bob").value(), IsEmpty());
}

TEST_F(DeliveryStoreTest, AnUnknownSequenceIsNotFound) {
  const auto unknown = FailsWith(StatusCode::kNotFound, "DELIVERY_UNKNOWN");
  EXPECT_THAT(store_.Mark(9, v1::DELIVERY_STATE_SEEN, kNow, ""), unknown);
  EXPECT_THAT(store_.MarkUninjected(9, kNow, ""), unknown);
  EXPECT_THAT(store_.SetWait(9, v1::WAIT_REASON_AWAY, kNow), unknown);
  EXPECT_THAT(store_.End(9, v1::DELIVERY_END_EXPIRED, kNow, ""), unknown);
}

TEST_F(DeliveryStoreTest, ReconcileNamesTheFirstOpenAndTheLastInjected) {
  for (int i = 1; i <= 100; ++i) {
    Mark(Insert(MessageTo("bob", absl::StrCat("injected-", i))),
         v1::DELIVERY_STATE_INJECTED);
  }
  for (int i = 1; i <= 100; ++i) {
    Insert(MessageTo("bob", absl::StrCat("open-", i)));
  }

  const auto records = store_.ToReconcile("bob").value();

  ASSERT_THAT(records, SizeIs(128));
  EXPECT_THAT(records.front(), EnvelopeIs("injected-37"));
  EXPECT_THAT(records[63], EnvelopeIs("injected-100"));
  EXPECT_THAT(records[64], EnvelopeIs("open-1"));
  EXPECT_THAT(records.back(), EnvelopeIs("open-64"));
}

TEST_F(DeliveryStoreTest, AMailboxCountsItsOpenDeliveriesAndTheOldest) {
  Mark(Insert(MessageTo("bob", "e0")), v1::DELIVERY_STATE_INJECTED);
  NewDelivery first = MessageTo("bob", "e1");
  first.accepted_at = kNow + absl::Seconds(1);
  NewDelivery second = MessageTo("bob", "e2");
  second.accepted_at = kNow + absl::Seconds(2);
  const int64_t bytes =
      first.envelope.ByteSizeLong() + second.envelope.ByteSizeLong();
  Insert(first);
  Insert(second);

  const Mailbox mailbox = mailboxes_.Find("bob").value();

  EXPECT_EQ(mailbox.envelopes, 2);
  EXPECT_EQ(mailbox.bytes, bytes);
  EXPECT_EQ(mailbox.oldest_at, kNow + absl::Seconds(1));
  EXPECT_EQ(mailboxes_.Find("nobody").value().envelopes, 0);
  EXPECT_THAT(mailboxes_.All().value(), SizeIs(1));
}

TEST_F(DeliveryStoreTest, ExpiredOnesAreOpenAndComeByTheirTime) {
  const auto expiring = [](const std::string& id, absl::Duration in) {
    NewDelivery delivery = MessageTo("bob", id);
    delivery.expires_at = kNow + in;
    return delivery;
  };
  Insert(expiring("later", absl::Seconds(20)));
  Insert(expiring("sooner", absl::Seconds(10)));
  Insert(expiring("too late", absl::Seconds(21)));
  Insert(MessageTo("bob", "never"));
  Mark(Insert(expiring("injected", absl::Seconds(1))),
       v1::DELIVERY_STATE_INJECTED);

  const absl::Time now = kNow + absl::Seconds(20);
  const auto expired = store_.ExpiredBefore(now, 9).value();
  EXPECT_THAT(expired, ElementsAre(EnvelopeIs("sooner"), EnvelopeIs("later")));
  EXPECT_THAT(
      store_
          .ExpiredBefore(now, 9,
                         {kNow + absl::Seconds(10), expired.front().sequence()})
          .value(),
      ElementsAre(EnvelopeIs("later")));
}

TEST_F(DeliveryStoreTest, APrefixFindsEnvelopesAndADeliveryIdFindsOne) {
  Insert(MessageTo("bob", "0aff-1"));
  Insert(MessageTo("bob", "0aff-2"));
  Insert(MessageTo("bob", "0b"));
  EXPECT_THAT(store_.FindByIdPrefix("0a", 9).value(),
              ElementsAre(EnvelopeIs("0aff-1"), EnvelopeIs("0aff-2")));
  EXPECT_THAT(store_.FindByIdPrefix("0a", 1).value(), SizeIs(1));
  EXPECT_THAT(store_.FindByIdPrefix("alice/0b", 9).value(),
              ElementsAre(EnvelopeIs("0b")));
  EXPECT_THAT(store_.FindByIdPrefix("", 9).value(), IsEmpty());
}

TEST_F(DeliveryStoreTest, OpenNoticesOfATopicAreFound) {
  const auto notice = [](const std::string& id, const std::string& topic) {
    NewDelivery delivery = MessageTo("bob", id);
    delivery.envelope.set_kind(v1::ENVELOPE_KIND_NOTICE);
    delivery.envelope.set_topic(topic);
    return delivery;
  };
  Insert(notice("e1", "REGISTERED"));
  Insert(notice("e2", "ENDED"));
  Mark(Insert(notice("e3", "REGISTERED")), v1::DELIVERY_STATE_INJECTED);

  EXPECT_THAT(
      store_.OpenTo("bob", v1::ENVELOPE_KIND_NOTICE, "REGISTERED", "alice")
          .value(),
      ElementsAre(EnvelopeIs("e1")));
}

TEST_F(DeliveryStoreTest, AMailboxPassesToAnotherSessionWithItsAsks) {
  NewDelivery ask = MessageTo("old", "ask");
  ask.envelope.set_kind(v1::ENVELOPE_KIND_ASK);
  ASSERT_THAT(store_.Insert(ask), IsOk());
  ASSERT_THAT(db_->Execute("INSERT INTO asks VALUES ('alice/ask', 1, '', "
                           "'alice', 'old', 1, 1, 2, 0, '')"),
              IsOk());
  const int64_t kept =
      store_.Insert(MessageTo("old", "kept")).value().record.sequence();
  NewDelivery own = MessageTo("old", "own");
  own.sender.set_session_id("new");
  ASSERT_THAT(store_.Insert(own), IsOk());
  const auto bytes = static_cast<int64_t>(ask.envelope.ByteSizeLong());
  const auto accept = [&](const DeliveryStatus& status) {
    return status.sequence != kept;
  };
  EXPECT_EQ(store_.MoveOpen("old", "new", accept, "it moved").value(), 1);
  const v1::DeliveryRecord record = **store_.Find("alice/ask");
  EXPECT_EQ(record.recipient_session_id(), "new");
  EXPECT_EQ(record.addressed_session_id(), "old");
  EXPECT_THAT(record.marks(0).evidence(), testing::EndsWith("; it moved"));
  EXPECT_EQ(MailboxStore(*db_).Find("new")->envelopes, 1);
  EXPECT_EQ(MailboxStore(*db_).Find("new")->bytes, bytes);
  EXPECT_EQ(MailboxStore(*db_).Find("old")->envelopes, 2);
  auto asks = db_->Prepare("SELECT recipient_session_id FROM asks").value();
  asks.Bind();
  ASSERT_TRUE(asks.Step().value());
  EXPECT_EQ(asks.Text(0), "new");
}

TEST_F(DeliveryStoreTest, ANoticeThatMovedIsNoLongerOfItsAddressee) {
  NewDelivery notice = MessageTo("old", "n1");
  notice.envelope.set_kind(v1::ENVELOPE_KIND_NOTICE);
  notice.envelope.set_topic("EXPIRED");
  ASSERT_THAT(store_.Insert(notice), IsOk());
  ASSERT_THAT(store_.MoveOpen(
                  "old", "new", [](const auto&) { return true; }, "it moved"),
              IsOk());
  EXPECT_FALSE(store_.HasNotice("old", "EXPIRED", "alice").value());
  EXPECT_THAT(store_.OpenTo("old", v1::ENVELOPE_KIND_NOTICE, "EXPIRED", "alice")
                  .value(),
              testing::IsEmpty());
}

}  // namespace
}  // namespace intercom
