#include "broker/storage/delivery_history.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/session_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

constexpr int64_t kNoSizeLimit = std::numeric_limits<int64_t>::max() / 2;

MATCHER_P(EnvelopeIs, id, "is the delivery of that envelope") {
  return arg.envelope().envelope_id() == id;
}

class DeliveryHistoryTest : public ::testing::Test {
 protected:
  int64_t Insert(const std::string& sender, const std::string& recipient,
                 const std::string& id, const std::string& root = "") {
    NewDelivery delivery = MessageTo(recipient, id);
    delivery.sender.set_session_id(sender);
    delivery.sender.set_workspace_root(root);
    return store_.Insert(delivery).value().record.sequence();
  }
  void InjectAt(int64_t sequence, absl::Time at) {
    ASSERT_THAT(store_.Mark(sequence, v1::DELIVERY_STATE_INJECTED, at, ""),
                IsOk());
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  DeliveryStore store_{*db_};
  DeliveryHistory history_{*db_};
};

TEST_F(DeliveryHistoryTest, TheNewestComeFirstPageByPage) {
  for (int i = 1; i <= 5; ++i) Insert("a", "b", absl::StrCat("e", i));
  EXPECT_THAT(history_.List({.limit = 2}).value().records,
              ElementsAre(EnvelopeIs("e5"), EnvelopeIs("e4")));
  EXPECT_THAT(history_.List({.from_sequence = 4, .limit = 2}).value().records,
              ElementsAre(EnvelopeIs("e3"), EnvelopeIs("e2")));
}

TEST_F(DeliveryHistoryTest, TheOldestComeFirstPageByPageIfAsked) {
  for (int i = 1; i <= 5; ++i) Insert("a", "b", absl::StrCat("e", i));
  const HistoryPage page =
      history_.List({.oldest_first = true, .limit = 3}).value();
  EXPECT_THAT(page.records, ElementsAre(EnvelopeIs("e1"), EnvelopeIs("e2"),
                                        EnvelopeIs("e3")));
  EXPECT_TRUE(page.more);
  const HistoryPage last =
      history_.List({.oldest_first = true, .from_sequence = page.last_sequence})
          .value();
  EXPECT_THAT(last.records, ElementsAre(EnvelopeIs("e4"), EnvelopeIs("e5")));
  EXPECT_FALSE(last.more);
}

TEST_F(DeliveryHistoryTest, ASessionsOldestComeFirstFromEitherSide) {
  Insert("a", "b", "e1");
  Insert("c", "d", "e2");
  Insert("b", "c", "e3");
  Insert("a", "b", "e4");
  EXPECT_THAT(
      history_.List({.session_id = "b", .oldest_first = true, .limit = 2})
          .value()
          .records,
      ElementsAre(EnvelopeIs("e1"), EnvelopeIs("e3")));
  EXPECT_THAT(
      history_
          .List({.session_id = "b", .oldest_first = true, .from_sequence = 3})
          .value()
          .records,
      ElementsAre(EnvelopeIs("e4")));
}

TEST_F(DeliveryHistoryTest, APagesAttachmentsCountAsItsTextsDo) {
  for (int i = 1; i <= 3; ++i) {
    NewDelivery delivery = MessageTo("b", absl::StrCat("e", i));
    delivery.envelope.add_attachments()->set_content(std::string(600, 'x'));
    ASSERT_THAT(store_.Insert(std::move(delivery)), IsOk());
  }
  EXPECT_THAT(history_.List({.max_text_bytes = 1000}).value().records,
              ElementsAre(EnvelopeIs("e3"), EnvelopeIs("e2")));
}

TEST_F(DeliveryHistoryTest, APageEndsWithTheTextThatExceedsItsBytes) {
  for (int i = 1; i <= 4; ++i) Insert("a", "b", "e" + std::to_string(i));
  const HistoryPage page = history_.List({.max_text_bytes = 10}).value();
  ASSERT_THAT(page.records, ElementsAre(EnvelopeIs("e4"), EnvelopeIs("e3")));
  EXPECT_TRUE(page.more);
  const HistoryPage last =
      history_.List({.from_sequence = page.records[1].sequence()}).value();
  EXPECT_THAT(last.records, ElementsAre(EnvelopeIs("e2"), EnvelopeIs("e1")));
  EXPECT_FALSE(last.more);
}

TEST_F(DeliveryHistoryTest, ASessionSeesWhatItSentAndWhatItGot) {
  Insert("a", "b", "e1");
  Insert("c", "d", "e2");
  Insert("b", "c", "e3");
  Insert("b", "b", "e4");
  EXPECT_THAT(
      history_.List({.session_id = "b"}).value().records,
      ElementsAre(EnvelopeIs("e4"), EnvelopeIs("e3"), EnvelopeIs("e1")));
  EXPECT_THAT(history_.List({.session_id = "b", .limit = 1}).value().records,
              ElementsAre(EnvelopeIs("e4")));
}

TEST_F(DeliveryHistoryTest, ASessionSeesWhatPassedToItAndSoDoesTheFirst) {
  Insert("a", "old", "e1");
  Insert("a", "new", "e2");
  ASSERT_THAT(store_.MoveOpen(
                  "old", "new", [](const auto&) { return true; }, "it moved"),
              IsOk());
  EXPECT_THAT(history_.List({.session_id = "new"}).value().records,
              ElementsAre(EnvelopeIs("e2"), EnvelopeIs("e1")));
  EXPECT_THAT(history_.List({.session_id = "old"}).value().records,
              ElementsAre(EnvelopeIs("e1")));
}

TEST_F(DeliveryHistoryTest, AWorkspaceSeesItsSendersAndItsRecipients) {
  SessionRow row;
  row.session_id = "b";
  row.workspace_root = "/p";
  ASSERT_THAT(SessionStore(*db_).Attach(row), IsOk());
  Insert("a", "c", "from", "/p");
  Insert("a", "b", "to", "/q");
  Insert("a", "c", "other", "/q");
  EXPECT_THAT(history_.List({.workspace_root = "/p"}).value().records,
              ElementsAre(EnvelopeIs("to"), EnvelopeIs("from")));
  EXPECT_THAT(history_.List({.session_id = "c", .workspace_root = "/p"})
                  .value()
                  .records,
              ElementsAre(EnvelopeIs("from")));
}

// Five messages of "a" to "b", one a minute.
class HistoryFilterTest : public DeliveryHistoryTest {
 protected:
  HistoryFilterTest() {
    for (int i = 1; i <= 5; ++i) {
      NewDelivery delivery = MessageTo("b", absl::StrCat("e", i));
      delivery.sender.set_session_id("a");
      delivery.accepted_at = kNow + absl::Minutes(i);
      if (i == 2) delivery.envelope.set_text("The Parser is DONE, Ärger");
      if (i == 3) delivery.envelope.set_kind(v1::ENVELOPE_KIND_ASK);
      if (i == 4) {
        v1::MessageAttachment& file = *delivery.envelope.add_attachments();
        file.set_name("src/parser.cc");
        file.set_content("nothing of it");
      }
      sequences_.push_back(
          store_.Insert(std::move(delivery)).value().record.sequence());
    }
  }
  std::vector<std::string> Ids(const HistoryFilter& filter) {
    std::vector<std::string> ids;
    const HistoryPage page = history_.List(filter).value();
    for (const v1::DeliveryRecord& record : page.records) {
      ids.push_back(record.envelope().envelope_id());
    }
    return ids;
  }
  std::vector<int64_t> sequences_;
};

TEST_F(HistoryFilterTest, ATextIsFoundInEitherCaseAndAnAttachmentByItsName) {
  EXPECT_THAT(Ids({.containing = "pArSeR"}), ElementsAre("e4", "e2"));
  EXPECT_THAT(Ids({.containing = "done"}), ElementsAre("e2"));
  EXPECT_THAT(Ids({.containing = "äRGER"}), ElementsAre("e2"));
  EXPECT_THAT(Ids({.containing = "nothing of it"}), ElementsAre());
}

TEST_F(HistoryFilterTest, KindsAreAnyOfThose) {
  EXPECT_THAT(Ids({.kinds = {v1::ENVELOPE_KIND_ASK}}), ElementsAre("e3"));
  EXPECT_THAT(
      Ids({.kinds = {v1::ENVELOPE_KIND_ASK, v1::ENVELOPE_KIND_MESSAGE}}),
      SizeIs(5));
}

TEST_F(HistoryFilterTest, StatesAreTheFurthestAndEndsBesideThemAreEnough) {
  InjectAt(sequences_[0], kNow);
  ASSERT_THAT(store_.End(sequences_[1], v1::DELIVERY_END_EXPIRED, kNow, ""),
              IsOk());
  EXPECT_THAT(Ids({.states = {v1::DELIVERY_STATE_INJECTED}}),
              ElementsAre("e1"));
  // What ended was accepted, too, but that is no state of it any more.
  EXPECT_THAT(Ids({.states = {v1::DELIVERY_STATE_ACCEPTED}}),
              ElementsAre("e5", "e4", "e3"));
  EXPECT_THAT(Ids({.ends = {v1::DELIVERY_END_EXPIRED}}), ElementsAre("e2"));
  EXPECT_THAT(Ids({.states = {v1::DELIVERY_STATE_INJECTED},
                   .ends = {v1::DELIVERY_END_EXPIRED}}),
              ElementsAre("e2", "e1"));
  EXPECT_THAT(Ids({.waiting = true}), ElementsAre("e5", "e4", "e3"));
}

TEST_F(HistoryFilterTest, TimesAreFromTheFirstToBeforeTheSecond) {
  EXPECT_THAT(
      Ids({.since = kNow + absl::Minutes(2), .until = kNow + absl::Minutes(4)}),
      ElementsAre("e3", "e2"));
}

TEST_F(HistoryFilterTest, FiltersHoldTogether) {
  EXPECT_THAT(Ids({.session_id = "b",
                   .containing = "parser",
                   .until = kNow + absl::Minutes(3)}),
              ElementsAre("e2"));
  EXPECT_THAT(Ids({.session_id = "x", .containing = "parser"}), ElementsAre());
}

TEST_F(HistoryFilterTest, APageEndsWhereMuchWasLookedAtEvenEmpty) {
  const HistoryPage page =
      history_.List({.containing = "done", .max_looked_at = 2}).value();
  EXPECT_THAT(page.records, SizeIs(0));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.last_sequence, sequences_[3]);
  const HistoryPage next = history_
                               .List({.from_sequence = page.last_sequence,
                                      .containing = "done",
                                      .max_looked_at = 2})
                               .value();
  EXPECT_THAT(next.records, ElementsAre(EnvelopeIs("e2")));
  EXPECT_TRUE(next.more);
  const HistoryPage last = history_
                               .List({.from_sequence = next.last_sequence,
                                      .containing = "done",
                                      .max_looked_at = 2})
                               .value();
  EXPECT_THAT(last.records, SizeIs(0));
  EXPECT_FALSE(last.more);
}

TEST_F(HistoryFilterTest, APageEndsWhereManyTextsWereLookedThrough) {
  const HistoryPage page =
      history_.List({.containing = "done", .max_bytes_looked_at = 1}).value();
  EXPECT_THAT(page.records, SizeIs(0));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.last_sequence, sequences_[4]);
}

TEST_F(DeliveryHistoryTest, PruningTakesOldSettledMailInSmallSteps) {
  for (int i = 1; i <= 5; ++i) {
    InjectAt(Insert("a", "b", absl::StrCat("old", i)), kNow);
  }
  InjectAt(Insert("a", "b", "new"), kNow + absl::Hours(1));
  Insert("a", "b", "open");
  const absl::Time limit = kNow + absl::Minutes(1);

  EXPECT_EQ(history_.Prune(limit, kNoSizeLimit, 3).value(), 3);
  EXPECT_EQ(history_.Prune(limit, kNoSizeLimit, 3).value(), 2);
  EXPECT_EQ(history_.Prune(limit, kNoSizeLimit, 3).value(), 0);

  EXPECT_THAT(history_.List({}).value().records,
              ElementsAre(EnvelopeIs("open"), EnvelopeIs("new")));
}

TEST_F(DeliveryHistoryTest, TooMuchMailIsPrunedButNeverOpenMail) {
  InjectAt(Insert("a", "b", "settled"), kNow);
  Insert("a", "b", "open");
  EXPECT_EQ(history_.Prune(absl::InfinitePast(), 0, 9).value(), 1);
  EXPECT_THAT(history_.List({}).value().records,
              ElementsAre(EnvelopeIs("open")));
  EXPECT_EQ(MailboxStore(*db_).Find("b").value().envelopes, 1);
}

TEST_F(DeliveryHistoryTest, SequencesGoOnAfterEverythingWasPruned) {
  for (int i = 1; i <= 3; ++i) {
    InjectAt(Insert("a", "b", absl::StrCat("e", i)), kNow);
  }
  ASSERT_THAT(history_.Prune(absl::InfiniteFuture(), 0, 99), IsOk());
  EXPECT_THAT(history_.List({}).value().records, SizeIs(1));
  EXPECT_EQ(Insert("a", "b", "e4"), 4);
}

}  // namespace
}  // namespace intercom
