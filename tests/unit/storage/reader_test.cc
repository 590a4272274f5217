#include "broker/storage/reader.h"

#include <future>

#include "broker/storage/transaction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

class ReaderTest : public ::testing::Test {
 protected:
  static int64_t Count(Database& db) {
    auto count = db.Prepare("SELECT COUNT(*) FROM envelopes");
    EXPECT_THAT(count->Step(), IsOk());
    return count->Int64(0);
  }
  int64_t CountByReader() {
    std::promise<int64_t> counted;
    EXPECT_THAT(
        reader_->Post([&](Database& db) { counted.set_value(Count(db)); }),
        IsOk());
    return counted.get_future().get();
  }
  void Write(const std::string& id) {
    ASSERT_THAT(DeliveryStore(*db_).Insert(MessageTo("bob", id)), IsOk());
  }

  TempDir dir_;
  std::unique_ptr<Database> db_ = MigratedAt(dir_ / "state.db");
  std::unique_ptr<Reader> reader_ = Reader::Open(dir_ / "state.db").value();
};

TEST_F(ReaderTest, AQuerySeesWhatIsCommittedAndNothingElse) {
  auto transaction = Transaction::Begin(*db_);
  Write("e1");
  EXPECT_EQ(CountByReader(), 0);
  ASSERT_THAT(transaction->Commit(), IsOk());
  EXPECT_EQ(CountByReader(), 1);
}

TEST_F(ReaderTest, AQueryKeepsItsViewAndDoesNotBlockTheWriter) {
  Write("e1");
  std::promise<void> begun, written;
  std::promise<std::pair<int64_t, int64_t>> counts;
  ASSERT_THAT(reader_->Post([&](Database& db) {
    const int64_t before = Count(db);
    begun.set_value();
    written.get_future().wait();
    counts.set_value({before, Count(db)});
  }),
              IsOk());
  begun.get_future().wait();

  Write("e2");
  ASSERT_THAT(db_->CheckpointPassive(), IsOk());
  Write("e3");
  written.set_value();

  EXPECT_EQ(counts.get_future().get(), std::make_pair(int64_t{1}, int64_t{1}));
  EXPECT_EQ(CountByReader(), 3);
}

TEST_F(ReaderTest, AQueryCannotWrite) {
  std::promise<absl::Status> written;
  ASSERT_THAT(reader_->Post([&](Database& db) {
    written.set_value(db.Execute("DELETE FROM meta"));
  }),
              IsOk());
  EXPECT_THAT(
      written.get_future().get(),
      FailsWith(absl::StatusCode::kPermissionDenied, "STORAGE_NOT_WRITABLE"));
}

TEST_F(ReaderTest, TooManyQueriesAreRefused) {
  std::promise<void> begun, go_on;
  ASSERT_THAT(reader_->Post([&](Database&) {
    begun.set_value();
    go_on.get_future().wait();
  }),
              IsOk());
  begun.get_future().wait();
  for (size_t i = 0; i < Reader::kMaxWaiting; ++i) {
    ASSERT_THAT(reader_->Post([](Database&) {}), IsOk());
  }
  EXPECT_THAT(
      reader_->Post([](Database&) {}),
      FailsWith(absl::StatusCode::kResourceExhausted, "TOO_MANY_QUERIES"));
  go_on.set_value();
  reader_.reset();
}

}  // namespace
}  // namespace intercom
