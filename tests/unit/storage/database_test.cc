#include "broker/storage/database.h"

#include <sys/stat.h>

#include <fstream>

#include "broker/storage/transaction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using absl::StatusCode;

class DatabaseTest : public ::testing::Test {
 protected:
  DatabaseTest() {
    EXPECT_THAT(db_->Execute("CREATE TABLE t (id INTEGER PRIMARY KEY, "
                             "word TEXT NOT NULL) STRICT"),
                IsOk());
  }

  absl::Status Insert(int id, std::string_view word) {
    auto insert = db_->Prepare("INSERT INTO t (id, word) VALUES (?, ?)");
    if (!insert.ok()) return insert.status();
    insert->Bind(id, word);
    return insert->Run();
  }

  int64_t Count() {
    auto count = db_->Prepare("SELECT COUNT(*) FROM t");
    EXPECT_THAT(count->Step(), IsOk());
    return count->Int64(0);
  }

  TempDir dir_;
  std::unique_ptr<Database> db_ = Database::Open(dir_ / "state.db").value();
};

TEST_F(DatabaseTest, GivesBackWhatWasBound) {
  auto select = db_->Prepare("SELECT ?, ?, ?, ?, ?");
  ASSERT_THAT(select, IsOk());
  const std::string text("a\0b \xf0\x9f\x9b\xb0", 8);

  select->Bind(int64_t{1} << 60, text, std::string("temporary"), kNow,
               std::optional<absl::Time>());
  ASSERT_TRUE(select->Step().value());

  EXPECT_EQ(select->Int64(0), int64_t{1} << 60);
  EXPECT_EQ(select->String(1), text);
  EXPECT_EQ(select->Text(2), "temporary");
  EXPECT_EQ(select->Time(3), kNow);
  EXPECT_EQ(select->OptionalTime(4), std::nullopt);
  EXPECT_FALSE(select->Step().value());
}

TEST_F(DatabaseTest, AnEmptyTextIsNotNull) {
  EXPECT_THAT(Insert(1, std::string_view()), IsOk());
}

TEST_F(DatabaseTest, AWrongNumberOfValuesIsAnError) {
  auto insert = db_->Prepare("INSERT INTO t (id, word) VALUES (?, ?)");
  insert->Bind(1);
  EXPECT_THAT(insert->Step(), FailsWith(StatusCode::kInternal, "STORAGE_BUG"));
}

TEST_F(DatabaseTest, AStatementCanRunInsideItself) {
  ASSERT_THAT(Insert(1, "one"), IsOk());
  ASSERT_THAT(Insert(2, "two"), IsOk());
  const char* sql = "SELECT word FROM t ORDER BY id";
  auto outer = db_->Prepare(sql);
  ASSERT_TRUE(outer->Step().value());
  {
    auto inner = db_->Prepare(sql);
    ASSERT_TRUE(inner->Step().value());
    EXPECT_EQ(inner->Text(0), "one");
  }
  ASSERT_TRUE(outer->Step().value());
  EXPECT_EQ(outer->Text(0), "two");
}

TEST_F(DatabaseTest, ATransactionWithoutCommitLeavesNothing) {
  {
    auto transaction = Transaction::Begin(*db_);
    ASSERT_THAT(Insert(1, "one"), IsOk());
  }
  EXPECT_EQ(Count(), 0);
  EXPECT_FALSE(db_->in_transaction());
}

TEST_F(DatabaseTest, ASavepointIsUndoneAlone) {
  auto transaction = Transaction::Begin(*db_);
  ASSERT_THAT(Insert(1, "kept"), IsOk());
  {
    auto savepoint = Savepoint::Begin(*db_);
    ASSERT_THAT(Insert(2, "undone"), IsOk());
  }
  {
    auto savepoint = Savepoint::Begin(*db_);
    ASSERT_THAT(Insert(3, "kept"), IsOk());
    ASSERT_THAT(savepoint->Release(), IsOk());
  }
  ASSERT_THAT(transaction->Commit(), IsOk());
  EXPECT_EQ(Count(), 2);
}

TEST_F(DatabaseTest, TheFileIsForItsOwnerOnly) {
  for (const char* name : {"state.db", "state.db-wal", "state.db-shm"}) {
    struct stat info;
    ASSERT_EQ(stat((dir_ / name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & 0777, 0600u) << name;
  }
}

TEST_F(DatabaseTest, AReadOnlyConnectionCannotWrite) {
  auto reader = Database::OpenReadOnly(dir_ / "state.db");
  ASSERT_THAT(reader, IsOk());
  EXPECT_THAT((*reader)->Execute("DELETE FROM t"),
              FailsWith(StatusCode::kPermissionDenied, "STORAGE_NOT_WRITABLE"));
}

TEST_F(DatabaseTest, AHeldWriteLockIsBusyNotBroken) {
  auto other = Database::Open(dir_ / "state.db");
  ASSERT_THAT(other, IsOk());
  auto transaction = Transaction::Begin(*db_);
  ASSERT_THAT((*other)->Execute("PRAGMA busy_timeout=0"), IsOk());
  EXPECT_THAT(Transaction::Begin(**other).status(),
              FailsWith(StatusCode::kUnavailable, "STORAGE_BUSY"));
}

TEST_F(DatabaseTest, AFileThatIsNoDatabaseIsCorrupt) {
  const std::string path = dir_ / "other.db";
  std::ofstream(path) << std::string(8192, 'x');
  EXPECT_THAT(Database::Open(path),
              FailsWith(StatusCode::kDataLoss, "STORAGE_CORRUPT"));
}

TEST_F(DatabaseTest, AMissingFolderIsUnreadable) {
  EXPECT_THAT(Database::Open(dir_ / "missing/state.db"),
              FailsWith(StatusCode::kUnavailable, "STORAGE_UNREADABLE"));
}

TEST_F(DatabaseTest, ACheckpointCopiesTheLogWhileTheWriterIsOpen) {
  ASSERT_THAT(Insert(1, "one"), IsOk());
  EXPECT_GT(db_->wal_frames(), 0);
  auto other = Database::Open(dir_ / "state.db");
  const auto result = (*other)->CheckpointPassive();
  ASSERT_THAT(result, IsOk());
  EXPECT_TRUE(result->complete());
  EXPECT_EQ(result->log_frames, db_->wal_frames());
}

}  // namespace
}  // namespace intercom
