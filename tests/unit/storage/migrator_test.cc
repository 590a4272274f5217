#include "broker/storage/migrator.h"

#include <fstream>
#include <sstream>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::HasSubstr;

constexpr Migration kGood[] = {
    {1, "0001_a.sql", "CREATE TABLE a (x INTEGER NOT NULL) STRICT;"},
    {2, "0002_b.sql", "CREATE TABLE b (x INTEGER NOT NULL) STRICT;"}};
constexpr Migration kBroken[] = {
    kGood[0],
    {2, "0002_broken.sql",
     "CREATE TABLE b (x INTEGER NOT NULL) STRICT; INSERT INTO a VALUES (1); "
     "SELECT nonsense;"}};

// Run with UPDATE_GOLDEN=1 to write the file anew.
TEST(MigratorTest, EmptyToNewestIsTheGoldenSchema) {
  auto db = Database::OpenInMemory().value();
  ASSERT_THAT(Migrate(*db, AllMigrations()), IsOk());
  const std::string schema = DumpSchema(*db).value();
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::ofstream(INTERCOM_GOLDEN_SCHEMA) << schema;
  }
  std::ifstream file(INTERCOM_GOLDEN_SCHEMA);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(schema, golden.str());
}

TEST(MigratorTest, MigratingTwiceChangesNothing) {
  auto db = Database::OpenInMemory().value();
  ASSERT_THAT(Migrate(*db, kGood), IsOk());
  EXPECT_THAT(Migrate(*db, kGood), IsOk());
  EXPECT_EQ(SchemaVersion(*db).value(), 2);
}

TEST(MigratorTest, AnOlderDatabaseKeepsItsRows) {
  auto db = Database::OpenInMemory().value();
  ASSERT_THAT(Migrate(*db, std::span(kGood, 1)), IsOk());
  ASSERT_THAT(db->Execute("INSERT INTO a VALUES (7)"), IsOk());

  ASSERT_THAT(Migrate(*db, kGood), IsOk());

  auto row = db->Prepare("SELECT x FROM a");
  ASSERT_TRUE(row->Step().value());
  EXPECT_EQ(row->Int(0), 7);
}

TEST(MigratorTest, ANewerDatabaseIsRefusedAndBothVersionsAreNamed) {
  auto db = Database::OpenInMemory().value();
  ASSERT_THAT(db->Execute("PRAGMA user_version=9"), IsOk());

  const absl::Status status = Migrate(*db, kGood);

  EXPECT_THAT(status,
              FailsWith(StatusCode::kFailedPrecondition, "STORE_NEWER"));
  EXPECT_THAT(MessageOf(status), HasSubstr("version 9"));
  EXPECT_THAT(MessageOf(status), HasSubstr("up to 2"));
  EXPECT_EQ(SchemaVersion(*db).value(), 9);
}

TEST(MigratorTest, AFailingScriptLeavesVersionTablesAndRowsAsTheyWere) {
  TempDir dir;
  auto db = Database::Open(dir / "state.db").value();
  ASSERT_THAT(Migrate(*db, std::span(kGood, 1)), IsOk());
  const std::string before = DumpSchema(*db).value();

  const absl::Status status = Migrate(*db, kBroken);

  EXPECT_THAT(MessageOf(status), HasSubstr("0002_broken.sql"));
  EXPECT_EQ(SchemaVersion(*db).value(), 1);
  EXPECT_EQ(DumpSchema(*db).value(), before);
  auto count = db->Prepare("SELECT COUNT(*) FROM a");
  ASSERT_TRUE(count->Step().value());
  EXPECT_EQ(count->Int(0), 0);
}

}  // namespace
}  // namespace intercom
