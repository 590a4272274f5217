#include "broker/storage/report_store.h"

#include "broker/base/proto_time.h"
#include "gtest/gtest.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

class ReportStoreTest : public ::testing::Test {
 protected:
  static v1::Report Report(v1::Report::Status status,
                           const std::string& summary) {
    v1::Report report;
    report.set_status(status);
    report.set_summary(summary);
    *report.mutable_reported_at() = ToProto(kNow);
    return report;
  }

  std::unique_ptr<Database> db_ = MigratedInMemory();
  ReportStore store_{*db_};
};

TEST_F(ReportStoreTest, ALaterReportReplacesTheEarlierAndItsAnswer) {
  ASSERT_THAT(store_.Save("/a", "s1", Report(v1::Report::STATUS_BLOCKED, "x")),
              IsOk());
  ASSERT_THAT(store_.SetAnswered("/a", "s1", kNow), IsOk());
  ASSERT_THAT(
      store_.Save("/a", "s1", Report(v1::Report::STATUS_NEEDS_DECISION, "y")),
      IsOk());
  const v1::Report found = **store_.Find("/a", "s1");
  EXPECT_EQ(found.status(), v1::Report::STATUS_NEEDS_DECISION);
  EXPECT_EQ(found.summary(), "y");
  EXPECT_EQ(FromProto(found.reported_at()), kNow);
  EXPECT_FALSE(found.has_answered_at());
}

TEST_F(ReportStoreTest, TheFirstAnswerStays) {
  ASSERT_THAT(store_.Save("/a", "s1", Report(v1::Report::STATUS_BLOCKED, "x")),
              IsOk());
  for (const absl::Duration later : {absl::Seconds(5), absl::Seconds(9)}) {
    ASSERT_THAT(store_.SetAnswered("/a", "s1", kNow + later), IsOk());
  }
  EXPECT_EQ(FromProto((*store_.Find("/a", "s1"))->answered_at()),
            kNow + absl::Seconds(5));
}

TEST_F(ReportStoreTest, AWorkspaceAndASessionHaveEachTheirOwn) {
  ASSERT_THAT(store_.Save("/a", "s1", Report(v1::Report::STATUS_BLOCKED, "x")),
              IsOk());
  EXPECT_EQ(*store_.Find("/b", "s1"), std::nullopt);
  EXPECT_EQ(*store_.Find("/a", "s2"), std::nullopt);
  ASSERT_THAT(store_.Remove("/a", "s2"), IsOk());
  EXPECT_NE(*store_.Find("/a", "s1"), std::nullopt);
  ASSERT_THAT(store_.Remove("/a", "s1"), IsOk());
  EXPECT_EQ(*store_.Find("/a", "s1"), std::nullopt);
}

}  // namespace
}  // namespace intercom
