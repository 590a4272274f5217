#include "broker/storage/note_store.h"

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

class NoteStoreTest : public ::testing::Test {
 protected:
  void Add(const std::string& id, const std::string& text = "text",
           const std::string& supervisor = "c-1") {
    NoteRow note;
    note.supervisor_session_id = supervisor;
    note.worker_session_id = "w-1";
    note.note_id = id;
    note.worker_name = "Builder";
    note.run = 3;
    note.text = text;
    note.at = kNow;
    ASSERT_THAT(store_.Add(note), IsOk());
  }
  std::vector<std::string> Drain(const std::string& drain_id) {
    const auto drained = store_.Drain("c-1", drain_id);
    EXPECT_THAT(drained, IsOk());
    lost_ = drained->lost;
    std::vector<std::string> ids;
    for (const NoteRow& note : drained->notes) ids.push_back(note.note_id);
    return ids;
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  NoteStore store_{*db_};
  int64_t lost_ = 0;
};

TEST_F(NoteStoreTest, ADrainTakesWhatWaitsOldestFirstAndOnce) {
  Add("n-1");
  Add("n-2");
  Add("n-x", "text", "c-2");
  EXPECT_EQ(*store_.CountWaiting("c-1"), 2);
  EXPECT_THAT(Drain("d-1"), ElementsAre("n-1", "n-2"));
  EXPECT_EQ(*store_.CountWaiting("c-1"), 0);
  EXPECT_THAT(Drain("d-2"), IsEmpty());
  EXPECT_EQ(*store_.CountWaiting("c-2"), 1);
}

TEST_F(NoteStoreTest, OldNotesAreRemovedInStepsAndThoseThatWaitedAreCounted) {
  Add("n-1");
  EXPECT_THAT(Drain("d-1"), ElementsAre("n-1"));
  Add("n-2");
  Add("n-3");
  EXPECT_EQ(*store_.Prune(kNow, 10), 0);
  EXPECT_EQ(*store_.Prune(kNow + absl::Seconds(1), 2), 2);
  EXPECT_THAT(Drain("d-2"), ElementsAre("n-3"));
  EXPECT_EQ(lost_, 1);
  EXPECT_EQ(*store_.Prune(kNow + absl::Seconds(1), 2), 1);
  EXPECT_EQ(*store_.Prune(kNow + absl::Seconds(1), 2), 0);
}

TEST_F(NoteStoreTest, ARepeatedDrainGivesTheSameNotesAndTakesNoNewOnes) {
  Add("n-1");
  EXPECT_THAT(Drain("d-1"), ElementsAre("n-1"));
  Add("n-2");
  EXPECT_THAT(Drain("d-1"), ElementsAre("n-1"));
  EXPECT_THAT(Drain("d-2"), ElementsAre("n-2"));
  EXPECT_THAT(Drain("d-1"), ElementsAre("n-1"));
}

TEST_F(NoteStoreTest, ARepeatOfADrainThatFoundNothingFindsNothing) {
  EXPECT_THAT(Drain("d-1"), IsEmpty());
  Add("n-1");
  EXPECT_THAT(Drain("d-1"), IsEmpty());
  EXPECT_THAT(Drain("d-2"), ElementsAre("n-1"));
}

TEST_F(NoteStoreTest, TheOldestGivesWayAndIsCountedUntilADrainTellsIt) {
  for (int i = 0; i < NoteStore::kMostWaiting + 2; ++i) {
    Add("n-" + std::to_string(i));
  }
  const auto taken = Drain("d-1");
  EXPECT_EQ(taken.size(), NoteStore::kMostWaiting);
  EXPECT_EQ(taken.front(), "n-2");
  EXPECT_EQ(lost_, 2);
  Drain("d-1");
  EXPECT_EQ(lost_, 2);
  Drain("d-2");
  EXPECT_EQ(lost_, 0);
}

TEST_F(NoteStoreTest, ADrainIsBoundedInBytesButTakesOneNote) {
  const std::string large(NoteStore::kDrainBytes, 'x');
  Add("n-1", large + "x");
  Add("n-2", "small");
  EXPECT_THAT(Drain("d-1"), ElementsAre("n-1"));
  EXPECT_THAT(Drain("d-2"), ElementsAre("n-2"));
}

TEST_F(NoteStoreTest, TheLast200DrainedOnesAreFoundByTheBeginningOfTheirIds) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 100; ++j) {
      Add("note-" + std::to_string(i) + "-" + std::to_string(j));
    }
    Drain("d-" + std::to_string(i));
  }
  EXPECT_THAT(*store_.FindDrained("c-1", "note-0", 10), IsEmpty());
  EXPECT_EQ(store_.FindDrained("c-1", "note-1-42", 10)->front().text, "text");
  EXPECT_THAT(*store_.FindDrained("c-2", "note-1", 10), IsEmpty());
  EXPECT_EQ(store_.FindDrained("c-1", "note-2", 200)->size(), 100);
}

}  // namespace
}  // namespace intercom
