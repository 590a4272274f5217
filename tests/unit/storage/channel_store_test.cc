#include "broker/storage/channel_store.h"

#include "gtest/gtest.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

class ChannelStoreTest : public ::testing::Test {
 protected:
  static ChannelRow Row(int64_t revision, const std::string& payload) {
    return {.revision = revision,
            .payload = payload,
            .committed_by = "alice",
            .committed_at = kNow};
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  ChannelStore store_{*db_};
};

TEST_F(ChannelStoreTest, NothingWasCommittedAtFirst) {
  EXPECT_EQ(*store_.Revision({"", "a"}), 0);
  EXPECT_FALSE((*store_.Find({"", "a"})).has_value());
  EXPECT_EQ(*store_.Count(), 0);
}

TEST_F(ChannelStoreTest, ALaterStateReplacesTheEarlierOne) {
  const std::string bytes("\0\xff{}", 4);  // Opaque, whatever it is.
  ASSERT_THAT(store_.Save({"", "a"}, Row(1, "1")), IsOk());
  ASSERT_THAT(store_.Save({"", "a"}, Row(2, bytes)), IsOk());
  const ChannelRow found = **store_.Find({"", "a"});
  EXPECT_EQ(found.revision, 2);
  EXPECT_EQ(found.payload, bytes);
  EXPECT_EQ(found.committed_by, "alice");
  EXPECT_EQ(found.committed_at, kNow);
  EXPECT_EQ(*store_.Revision({"", "a"}), 2);
  EXPECT_EQ(*store_.Count(), 1);
}

TEST_F(ChannelStoreTest, AScopeAndANamespaceHaveEachTheirOwn) {
  ASSERT_THAT(store_.Save({"red", "a"}, Row(3, "12345")), IsOk());
  EXPECT_EQ(*store_.Revision({"", "a"}), 0);
  EXPECT_EQ(*store_.Revision({"red", "b"}), 0);
  ASSERT_THAT(store_.Save({"", "b"}, Row(1, "")), IsOk());
  const auto listed = *store_.List();
  ASSERT_EQ(listed.size(), 2);
  EXPECT_EQ(listed[0].key, (ChannelKey{"", "b"}));
  EXPECT_EQ(listed[0].bytes, 0);
  EXPECT_EQ(listed[1].key, (ChannelKey{"red", "a"}));
  EXPECT_EQ(listed[1].revision, 3);
  EXPECT_EQ(listed[1].bytes, 5);
}

}  // namespace
}  // namespace intercom
