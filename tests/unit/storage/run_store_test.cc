#include "broker/storage/run_store.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<int64_t> NumbersOf(const std::vector<RunRow>& rows) {
  std::vector<int64_t> numbers;
  for (const RunRow& row : rows) numbers.push_back(row.number);
  return numbers;
}

class RunStoreTest : public ::testing::Test {
 protected:
  static RunRow Row(const std::string& delivery_id) {
    RunRow run;
    run.delivery_id = delivery_id;
    run.supervisor_session_id = "c-1";
    run.supervisor_name = "Coordinator";
    run.worker_session_id = "w-1";
    run.worker_name = "Builder";
    run.root = "/a";
    run.headless = true;
    run.label = "a label";
    run.opened_at = kNow;
    run.stop_when_idle = absl::Seconds(90);
    run.stop_after = absl::Minutes(5);
    return run;
  }
  RunRow Added(int64_t sequence) {
    RunRow run = Row("c-1/e-" + std::to_string(sequence));
    EXPECT_THAT(store_.Add(sequence, run), IsOk());
    return run;
  }
  RunRow Settled(int64_t sequence, bool collected = false,
                 int64_t announced = 0) {
    RunRow run = Added(sequence);
    run.state = v1::Run::STATE_DONE;
    run.settled_at = kNow;
    run.collected = collected;
    run.announced = announced;
    EXPECT_THAT(store_.Put(run), IsOk());
    return run;
  }
  std::vector<int64_t> Kept(int64_t last) {
    std::vector<int64_t> kept;
    for (int64_t number = 1; number <= last; ++number) {
      if (store_.Find(number).value().has_value()) kept.push_back(number);
    }
    return kept;
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  RunStore store_{*db_};
};

TEST_F(RunStoreTest, ARunComesBackAsItWasStored) {
  RunRow run = Added(7);
  run.state = v1::Run::STATE_STOPPED;
  run.started_at = kNow + absl::Seconds(1);
  run.last_advance_at = kNow + absl::Seconds(2);
  run.settled_at = kNow + absl::Seconds(3);
  run.turns = 4;
  run.usage.set_input_tokens(10);
  run.usage.set_cost(0.5);
  run.model = "p/m";
  run.reason = "cancelled";
  run.detail = "why";
  run.stop_requested_at = kNow + absl::Seconds(2);
  run.stalled_told = true;
  run.collected = true;
  run.announced = 1;
  run.fellow_messages = 3;
  ASSERT_THAT(store_.Put(run), IsOk());
  v1::RunResult result;
  result.set_text("all of it");
  ASSERT_THAT(store_.SetResult(run.number, result), IsOk());

  const RunRow found = **store_.FindByDelivery("c-1/e-7");

  EXPECT_EQ(found.number, 7);
  EXPECT_EQ(found.supervisor_name, "Coordinator");
  EXPECT_EQ(found.worker_name, "Builder");
  EXPECT_EQ(found.root, "/a");
  EXPECT_TRUE(found.headless);
  EXPECT_EQ(found.label, "a label");
  EXPECT_EQ(found.state, v1::Run::STATE_STOPPED);
  EXPECT_EQ(found.opened_at, kNow);
  EXPECT_EQ(found.started_at, run.started_at);
  EXPECT_EQ(found.last_advance_at, run.last_advance_at);
  EXPECT_EQ(found.settled_at, run.settled_at);
  EXPECT_EQ(found.turns, 4);
  EXPECT_EQ(found.usage.input_tokens(), 10);
  EXPECT_EQ(found.usage.cost(), 0.5);
  EXPECT_EQ(found.model, "p/m");
  EXPECT_EQ(found.reason, "cancelled");
  EXPECT_EQ(found.detail, "why");
  EXPECT_EQ(found.stop_when_idle, absl::Seconds(90));
  EXPECT_EQ(found.stop_after, absl::Minutes(5));
  EXPECT_EQ(found.stop_requested_at, run.stop_requested_at);
  EXPECT_TRUE(found.stalled_told);
  EXPECT_TRUE(found.collected);
  EXPECT_EQ(found.announced, 1);
  EXPECT_EQ(found.fellow_messages, 3);
  EXPECT_EQ(store_.Result(7)->text(), "all of it");
}

TEST_F(RunStoreTest, NoNumberIsUsedTwiceEvenWhenSequencesStartAgain) {
  EXPECT_EQ(Settled(9, /*collected=*/true).number, 9);
  EXPECT_EQ(Added(3).number, 10);
  ASSERT_THAT(store_.Retain("c-1", {.kept = 0, .most_untold = 0}), IsOk());
  RunRow later = Row("c-1/later");
  ASSERT_THAT(store_.Add(1, later), IsOk());
  EXPECT_EQ(later.number, 11);
}

TEST_F(RunStoreTest, OpenRunsAreListedByEitherSide) {
  Added(1);
  Settled(2);
  RunRow other = Row("x/e-3");
  other.supervisor_session_id = "x";
  ASSERT_THAT(store_.Add(3, other), IsOk());
  EXPECT_THAT(NumbersOf(*store_.AllOpen()), ElementsAre(1, 3));
  EXPECT_THAT(NumbersOf(*store_.OpenOfSupervisor("c-1")), ElementsAre(1));
  EXPECT_THAT(NumbersOf(*store_.OpenOfWorker("w-1")), ElementsAre(1, 3));
  EXPECT_THAT(NumbersOf(*store_.OpenOfWorker("w-2")), IsEmpty());
}

TEST_F(RunStoreTest, WhatWasNeitherCollectedNorAnnouncedIsUntold) {
  Settled(1);
  Settled(2, /*collected=*/true);
  Settled(3, /*collected=*/false, /*announced=*/1);
  Settled(4);
  Added(5);
  EXPECT_THAT(NumbersOf(*store_.Untold("c-1", 10)), ElementsAre(1, 4));
  EXPECT_THAT(NumbersOf(*store_.Untold("c-1", 1)), ElementsAre(1));
  EXPECT_EQ(*store_.CountUntold("c-1"), 2);
}

TEST_F(RunStoreTest, TheCollectedGiveWayFirstThenTheAnnouncedOldestFirst) {
  Settled(1, /*collected=*/false, /*announced=*/1);
  Settled(2, /*collected=*/true);
  Settled(3);
  Settled(4, /*collected=*/true);
  Settled(5, /*collected=*/false, /*announced=*/1);
  Added(6);

  ASSERT_THAT(store_.Retain("c-1", {.kept = 4, .most_untold = 9}), IsOk());
  EXPECT_THAT(Kept(6), ElementsAre(1, 3, 4, 5, 6));
  ASSERT_THAT(store_.Retain("c-1", {.kept = 2, .most_untold = 9}), IsOk());
  EXPECT_THAT(Kept(6), ElementsAre(3, 5, 6));
}

TEST_F(RunStoreTest, UnreadRunsStayOverTheLimitAndOpenOnesAlways) {
  for (int64_t number = 1; number <= 5; ++number) Settled(number);
  Added(6);
  ASSERT_THAT(store_.Retain("c-1", {.kept = 1, .most_untold = 4}), IsOk());
  EXPECT_THAT(Kept(6), ElementsAre(2, 3, 4, 5, 6));
}

TEST_F(RunStoreTest, OnlyCollectedOnesGiveWayWhereThatIsAsked) {
  Settled(1, /*collected=*/false, /*announced=*/1);
  Settled(2, /*collected=*/true);
  ASSERT_THAT(store_.Retain(
                  "c-1", {.kept = 0, .most_untold = 9, .only_collected = true}),
              IsOk());
  EXPECT_THAT(Kept(2), ElementsAre(1));
}

TEST_F(RunStoreTest, DroppedIdsAreRememberedTheLast256OfEach) {
  for (int64_t number = 1; number <= RunStore::kDroppedKept + 2; ++number) {
    ASSERT_THAT(store_.AddDropped("c-1", number), IsOk());
  }
  ASSERT_THAT(store_.AddDropped("c-2", 1), IsOk());
  EXPECT_FALSE(*store_.IsDropped("c-1", 2));
  EXPECT_TRUE(*store_.IsDropped("c-1", 3));
  EXPECT_TRUE(*store_.IsDropped("c-1", RunStore::kDroppedKept + 2));
  EXPECT_TRUE(*store_.IsDropped("c-2", 1));
  EXPECT_TRUE(*store_.HasSupervised("c-2"));
  EXPECT_FALSE(*store_.HasSupervised("c-3"));
}

TEST_F(RunStoreTest, OldRunsArePrunedAndRememberedAsDropped) {
  Settled(1);
  Added(2);
  EXPECT_EQ(*store_.Prune(kNow, 10), 0);
  EXPECT_EQ(*store_.Prune(kNow + absl::Seconds(1), 10), 1);
  EXPECT_THAT(Kept(2), ElementsAre(2));
  EXPECT_TRUE(*store_.IsDropped("c-1", 1));
}

TEST_F(RunStoreTest, TotalsAddUpByWorkerAndByWorkspace) {
  RunRow run = Row("c-1/a");
  run.turns = 2;
  run.usage.set_output_tokens(5);
  run.usage.set_cost(0.25);
  ASSERT_THAT(store_.AddToTotals(run), IsOk());
  ASSERT_THAT(store_.AddToTotals(run), IsOk());
  run.worker_session_id = "w-2";
  ASSERT_THAT(store_.AddToTotals(run), IsOk());
  run.root = "/b";
  ASSERT_THAT(store_.AddToTotals(run), IsOk());

  EXPECT_EQ(store_.TotalsOf("/a", "w-1")->runs, 2);
  EXPECT_EQ(store_.TotalsOf("/a", "w-1")->turns, 4);
  EXPECT_EQ(store_.TotalsOf("/a", "w-1")->usage.cost(), 0.5);
  EXPECT_EQ(store_.TotalsIn("/a")->runs, 3);
  EXPECT_EQ(store_.TotalsIn("/a")->usage.output_tokens(), 15);
  EXPECT_EQ(store_.TotalsIn("/c")->runs, 0);
}

}  // namespace
}  // namespace intercom
