#include "broker/storage/ask_store.h"

#include <string>
#include <vector>

#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AskStoreTest : public ::testing::Test {
 protected:
  // Of alice to bob.
  static AskRow Ask(const std::string& id, absl::Time asked_at = kNow) {
    AskRow ask;
    ask.delivery_id = id;
    ask.sequence = 1;
    ask.scope = "fleet";
    ask.asker_session_id = "alice";
    ask.recipient_session_id = "bob";
    ask.asked_at = asked_at;
    ask.deadline_at = asked_at + absl::Minutes(10);
    return ask;
  }
  AskRow Found(const std::string& id) {
    auto row = store_.Find(id);
    EXPECT_THAT(row, IsOk());
    return row->value_or(AskRow());
  }
  static std::vector<std::string> Ids(
      const absl::StatusOr<std::vector<AskRow>>& asks) {
    EXPECT_THAT(asks, IsOk());
    std::vector<std::string> ids;
    for (const AskRow& ask : *asks) ids.push_back(ask.delivery_id);
    return ids;
  }
  std::vector<std::string> Unanswered(absl::Time since = kNow - absl::Hours(1),
                                      int limit = 64) {
    return Ids(store_.Unanswered("bob", since, limit));
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  AskStore store_{*db_};
};

TEST_F(AskStoreTest, AnAskIsFoundAsItWasStored) {
  EXPECT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  const AskRow found = Found("alice/a1");
  EXPECT_EQ(found.sequence, 1);
  EXPECT_EQ(found.scope, "fleet");
  EXPECT_EQ(found.asker_session_id, "alice");
  EXPECT_EQ(found.recipient_session_id, "bob");
  EXPECT_TRUE(found.open());
  EXPECT_TRUE(found.unanswered());
  EXPECT_EQ(found.asked_at, kNow);
  EXPECT_EQ(found.deadline_at, kNow + absl::Minutes(10));
  EXPECT_EQ(found.settled_at, std::nullopt);
  EXPECT_EQ(*store_.Find("alice/a2"), std::nullopt);
}

TEST_F(AskStoreTest, ARepeatedAskDoesNotOpenItAgain) {
  EXPECT_TRUE(*store_.Add(Ask("alice/a1")));
  EXPECT_TRUE(*store_.Settle("alice/a1", v1::Ask::STATE_TIMED_OUT, kNow));
  EXPECT_FALSE(*store_.Add(Ask("alice/a1")));
  EXPECT_EQ(Found("alice/a1").state, v1::Ask::STATE_TIMED_OUT);
}

TEST_F(AskStoreTest, AnAskIsSettledOnce) {
  ASSERT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  EXPECT_TRUE(*store_.Settle("alice/a1", v1::Ask::STATE_RECIPIENT_GONE, kNow));
  EXPECT_FALSE(*store_.Settle("alice/a1", v1::Ask::STATE_TIMED_OUT,
                              kNow + absl::Seconds(1)));
  EXPECT_EQ(Found("alice/a1").state, v1::Ask::STATE_RECIPIENT_GONE);
  EXPECT_EQ(Found("alice/a1").settled_at, kNow);
  EXPECT_FALSE(*store_.Settle("alice/none", v1::Ask::STATE_TIMED_OUT, kNow));
}

TEST_F(AskStoreTest, TheFirstReplyAnswersAnOpenAsk) {
  ASSERT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  EXPECT_TRUE(*store_.Answer("alice/a1", "bob/r1", kNow));
  EXPECT_FALSE(*store_.Answer("alice/a1", "bob/r2", kNow));
  const AskRow found = Found("alice/a1");
  EXPECT_EQ(found.state, v1::Ask::STATE_ANSWERED);
  EXPECT_EQ(found.reply_delivery_id, "bob/r1");
  EXPECT_EQ(found.settled_at, kNow);
  EXPECT_EQ((*store_.FindByReply("bob/r1"))->delivery_id, "alice/a1");
  EXPECT_EQ(*store_.FindByReply("bob/r2"), std::nullopt);
  EXPECT_EQ(*store_.FindByReply(""), std::nullopt);
}

TEST_F(AskStoreTest, ALateReplyIsRecordedAndTheAskStaysTimedOut) {
  ASSERT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  ASSERT_THAT(store_.Settle("alice/a1", v1::Ask::STATE_TIMED_OUT, kNow),
              IsOk());
  EXPECT_TRUE(*store_.Answer("alice/a1", "bob/r1", kNow + absl::Hours(1)));
  EXPECT_EQ(Found("alice/a1").state, v1::Ask::STATE_TIMED_OUT);
  EXPECT_EQ(Found("alice/a1").settled_at, kNow);
  EXPECT_EQ(Found("alice/a1").reply_delivery_id, "bob/r1");
}

TEST_F(AskStoreTest, ACancelledAskTakesNoReply) {
  ASSERT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  ASSERT_THAT(store_.Settle("alice/a1", v1::Ask::STATE_CANCELLED, kNow),
              IsOk());
  EXPECT_FALSE(*store_.Answer("alice/a1", "bob/r1", kNow));
  EXPECT_EQ(Found("alice/a1").reply_delivery_id, "");
}

TEST_F(AskStoreTest, AReplyThatIsTakenBackLeavesTheAskAsItWas) {
  ASSERT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  ASSERT_THAT(store_.Add(Ask("alice/late")), IsOk());
  ASSERT_THAT(store_.Settle("alice/late", v1::Ask::STATE_TIMED_OUT, kNow),
              IsOk());
  for (const char* id : {"alice/a1", "alice/late"}) {
    ASSERT_TRUE(*store_.Answer(id, std::string("bob/of-") + (id + 6), kNow));
    ASSERT_THAT(store_.ForgetReply(id), IsOk());
    EXPECT_TRUE(Found(id).unanswered());
  }
  EXPECT_TRUE(Found("alice/a1").open());
  EXPECT_EQ(Found("alice/a1").settled_at, std::nullopt);
  EXPECT_EQ(Found("alice/late").state, v1::Ask::STATE_TIMED_OUT);
  EXPECT_EQ(Found("alice/late").settled_at, kNow);
}

TEST_F(AskStoreTest, ListsOpenOnesOfAnAskerAndOfAll) {
  AskRow other = Ask("carol/a1", kNow - absl::Seconds(1));
  other.asker_session_id = "carol";
  for (const AskRow& ask : {Ask("alice/a2", kNow + absl::Seconds(1)),
                            Ask("alice/a1"), other, Ask("alice/a0")}) {
    ASSERT_THAT(store_.Add(ask), IsOk());
  }
  ASSERT_THAT(store_.Settle("alice/a0", v1::Ask::STATE_CANCELLED, kNow),
              IsOk());
  EXPECT_THAT(Ids(store_.OpenOf("alice")), ElementsAre("alice/a1", "alice/a2"));
  EXPECT_THAT(Ids(store_.AllOpen()),
              ElementsAre("carol/a1", "alice/a1", "alice/a2"));
}

TEST_F(AskStoreTest, ListsWhatWaitsForAnAnswerTheLatestOnesInOrder) {
  const absl::Duration second = absl::Seconds(1);
  for (int i = 0; i < 6; ++i) {
    ASSERT_THAT(
        store_.Add(Ask("alice/a" + std::to_string(i), kNow + i * second)),
        IsOk());
  }
  ASSERT_THAT(store_.Settle("alice/a1", v1::Ask::STATE_CANCELLED, kNow),
              IsOk());
  ASSERT_THAT(store_.Settle("alice/a2", v1::Ask::STATE_TIMED_OUT, kNow),
              IsOk());
  ASSERT_THAT(store_.Answer("alice/a3", "bob/r", kNow), IsOk());
  EXPECT_THAT(Unanswered(),
              ElementsAre("alice/a0", "alice/a2", "alice/a4", "alice/a5"));
  EXPECT_THAT(Unanswered(kNow),
              ElementsAre("alice/a2", "alice/a4", "alice/a5"));
  EXPECT_THAT(Unanswered(kNow, 2), ElementsAre("alice/a4", "alice/a5"));
  EXPECT_THAT(Ids(store_.Unanswered("alice", kNow, 64)), IsEmpty());
}

TEST_F(AskStoreTest, FindsAnsweredOnesWhoseReplyHasNotArrived) {
  DeliveryStore deliveries(*db_);
  for (const char* number : {"1", "2", "3", "4"}) {
    ASSERT_THAT(store_.Add(Ask(std::string("alice/a") + number)), IsOk());
    NewDelivery reply = MessageTo("alice", std::string("r") + number);
    reply.sender.set_session_id("bob");
    reply.envelope.set_kind(v1::ENVELOPE_KIND_REPLY);
    reply.envelope.set_reply_to(std::string("alice/a") + number);
    ASSERT_THAT(deliveries.Insert(reply), IsOk());
  }
  for (const char* number : {"1", "2", "3"}) {
    ASSERT_TRUE(*store_.Answer(std::string("alice/a") + number,
                               std::string("bob/r") + number, kNow));
  }
  // r1 waits, r2 has arrived, r3 has ended, r4 answers nothing.
  ASSERT_THAT(deliveries.Mark(2, v1::DELIVERY_STATE_INJECTED, kNow, ""),
              IsOk());
  ASSERT_THAT(deliveries.End(3, v1::DELIVERY_END_CANCELLED, kNow, ""), IsOk());
  EXPECT_THAT(Ids(store_.WithReplyUnderWay()), ElementsAre("alice/a1"));
}

TEST_F(AskStoreTest, AnAskIsDescribedWithTheBeginningOfItsTextInOneLine) {
  NewDelivery delivery = MessageTo("bob", "a1");
  delivery.envelope.set_kind(v1::ENVELOPE_KIND_ASK);
  delivery.envelope.set_text("Which\n\x1b[31mbranch? " + std::string(500, 'x'));
  ASSERT_THAT(DeliveryStore(*db_).Insert(delivery), IsOk());
  ASSERT_THAT(store_.Add(Ask("alice/a1")), IsOk());
  ASSERT_THAT(store_.Answer("alice/a1", "bob/r1", kNow), IsOk());
  const auto told = store_.Describe(Found("alice/a1"));
  ASSERT_THAT(told, IsOk());
  EXPECT_EQ(told->delivery_id(), "alice/a1");
  EXPECT_EQ(told->asker().session_id(), "alice");
  EXPECT_EQ(told->asker().name(), "Alice");
  EXPECT_EQ(told->asker().origin(), v1::ORIGIN_SESSION);
  EXPECT_EQ(told->recipient_name(), "Bob");
  EXPECT_EQ(told->state(), v1::Ask::STATE_ANSWERED);
  EXPECT_EQ(FromProto(told->deadline_at()), kNow + absl::Minutes(10));
  EXPECT_EQ(FromProto(told->settled_at()), kNow);
  EXPECT_EQ(told->reply_delivery_id(), "bob/r1");
  EXPECT_EQ(told->preview().substr(0, 15), "Which branch? x");
  EXPECT_EQ(told->preview().size(), 160u);
}

TEST_F(AskStoreTest, AnAskWhoseEnvelopeIsForgottenIsStillDescribed) {
  const auto told = store_.Describe(Ask("alice/a1"));
  ASSERT_THAT(told, IsOk());
  EXPECT_EQ(told->asker().session_id(), "alice");
  EXPECT_EQ(told->preview(), "");
}

TEST_F(AskStoreTest, ForgetsWhatWasSettledLongAgoInSteps) {
  for (const char* id : {"alice/a1", "alice/a2", "alice/a3", "alice/open"}) {
    ASSERT_THAT(store_.Add(Ask(id)), IsOk());
  }
  for (const char* id : {"alice/a1", "alice/a2"}) {
    ASSERT_TRUE(*store_.Settle(id, v1::Ask::STATE_TIMED_OUT, kNow));
  }
  ASSERT_TRUE(*store_.Settle("alice/a3", v1::Ask::STATE_TIMED_OUT,
                             kNow + absl::Hours(1)));
  const absl::Time later = kNow + absl::Minutes(1);
  EXPECT_EQ(*store_.Prune(later, 1), 1);
  EXPECT_EQ(*store_.Prune(later, 10), 1);
  EXPECT_EQ(*store_.Prune(later, 10), 0);
  EXPECT_NE(*store_.Find("alice/a3"), std::nullopt);
  EXPECT_NE(*store_.Find("alice/open"), std::nullopt);
}

}  // namespace
}  // namespace intercom
