#include "broker/storage/session_store.h"

#include "broker/storage/meta_store.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

class SessionStoreTest : public ::testing::Test {
 protected:
  static SessionRow Row(const std::string& id, const std::string& root) {
    return {.session_id = id,
            .workspace_root = root,
            .cwd = root + "/src",
            .scope = "fleet",
            .name = "name of " + id,
            .host_kind = "pi",
            .host_version = "1.6.0",
            .role = v1::ROLE_WORKER,
            .attached_at = kNow,
            .last_seen_at = kNow,
            .host_pid = 42,
            .host_start_ticks = 420,
            .launch_job_id = "job-1"};
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  SessionStore store_{*db_};
};

TEST_F(SessionStoreTest, EachAttachmentHasTheNextEpoch) {
  EXPECT_EQ(store_.Attach(Row("s1", "/a")).value(), 1);
  EXPECT_EQ(store_.Attach(Row("s1", "/b")).value(), 2);
  EXPECT_EQ(store_.Attach(Row("s2", "/a")).value(), 1);
  EXPECT_EQ(store_.Find("s1").value()->workspace_root, "/b");
  EXPECT_EQ(store_.Find("s1").value()->epoch, 2);
}

TEST_F(SessionStoreTest, ASessionComesBackAsItWasStored) {
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  const SessionRow row = store_.Find("s1").value().value();
  EXPECT_EQ(row.cwd, "/a/src");
  EXPECT_EQ(row.scope, "fleet");
  EXPECT_EQ(row.name, "name of s1");
  EXPECT_EQ(row.host_kind, "pi");
  EXPECT_EQ(row.host_version, "1.6.0");
  EXPECT_EQ(row.role, v1::ROLE_WORKER);
  EXPECT_EQ(row.attached_at, kNow);
  EXPECT_EQ(row.host_pid, 42);
  EXPECT_EQ(row.host_start_ticks, 420);
  EXPECT_EQ(row.launch_job_id, "job-1");
  EXPECT_EQ(store_.Find("s2").value(), std::nullopt);
}

TEST_F(SessionStoreTest, SettersChangeOneThing) {
  ASSERT_THAT(store_.Attach(Row("s1", "/a")), IsOk());
  ASSERT_THAT(store_.SetName("s1", "new"), IsOk());
  ASSERT_THAT(store_.SetSeen("s1", kNow + absl::Hours(1)), IsOk());
  const SessionRow row = store_.Find("s1").value().value();
  EXPECT_EQ(row.name, "new");
  EXPECT_EQ(row.last_seen_at, kNow + absl::Hours(1));
  EXPECT_EQ(row.attached_at, kNow);
}

TEST(MetaStoreTest, TheStoreIdIsMadeOnce) {
  const auto db = MigratedInMemory();
  CountingRandom random;
  MetaStore store(*db);
  const std::string id = store.StoreId(random).value();
  EXPECT_EQ(id.size(), 36u);
  EXPECT_EQ(store.StoreId(random).value(), id);
}

TEST(MetaStoreTest, ALaterValueReplacesAnEarlierOne) {
  const auto db = MigratedInMemory();
  MetaStore store(*db);
  EXPECT_EQ(store.Get("key").value(), std::nullopt);
  ASSERT_THAT(store.Set("key", "one"), IsOk());
  ASSERT_THAT(store.Set("key", "two"), IsOk());
  EXPECT_EQ(store.Get("key").value(), "two");
}

}  // namespace
}  // namespace intercom
