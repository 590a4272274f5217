#include "broker/domain/report.h"

#include <set>
#include <string>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/domain/activity.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(ReportTest, EveryStatusHasANameAndATopicOfItsOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> topics;
  for (const v1::Report::Status status : kReportStatuses) {
    names.insert(ReportStatusName(status));
    topics.insert(ReportTopic(status));
  }
  EXPECT_EQ(kReportStatuses.size(), size_t{v1::Report::Status_MAX});
  EXPECT_EQ(names.size(), kReportStatuses.size());
  EXPECT_EQ(topics.size(), kReportStatuses.size());
  EXPECT_FALSE(topics.contains(""));
}

TEST(ReportTest, ARefusalSaysWhatToWriteInstead) {
  EXPECT_THAT(MessageOf(CheckReport(v1::Report::STATUS_BLOCKED,
                                    std::string(2001, 'x'))),
              HasSubstr("2001 characters"));
  EXPECT_THAT(MessageOf(CheckReport(v1::Report::STATUS_BLOCKED, "a\nb")),
              HasSubstr("without line breaks"));
  EXPECT_THAT(MessageOf(CheckReport(v1::Report::STATUS_CLEAR, "x")),
              HasSubstr("no summary"));
}

TEST(ReportTest, PlainTextOfAnyScriptIsTaken) {
  for (const char* text : {"x", "Ärger im Büro: 3 < 4?", "你好", "שלום",
                           "🛰 \"quoted\" \\ $(x)"}) {
    EXPECT_THAT(CheckReport(v1::Report::STATUS_READY_FOR_REVIEW, text), IsOk());
  }
  EXPECT_THAT(CheckReport(v1::Report::STATUS_CLEAR, ""), IsOk());
}

TEST(ReportTest, AnUnansweredQuestionBecomesOverdue) {
  v1::Report report;
  report.set_status(v1::Report::STATUS_BLOCKED);
  *report.mutable_reported_at() = ToProto(kNow);
  const absl::Duration after = absl::Minutes(10);
  EXPECT_FALSE(IsOverdue(report, kNow + after - absl::Seconds(1), after));
  EXPECT_TRUE(IsOverdue(report, kNow + after, after));
  EXPECT_FALSE(
      IsOverdue(report, kNow + absl::Hours(9999), absl::InfiniteDuration()));
  *report.mutable_answered_at() = ToProto(kNow);
  EXPECT_FALSE(IsOverdue(report, kNow + after, after));
}

TEST(ActivityTest, APhaseIsFoundByItsName) {
  for (int phase = 1; phase <= v1::ActivityPhase_MAX; ++phase) {
    const auto p = static_cast<v1::ActivityPhase>(phase);
    EXPECT_EQ(PhaseNamed(PhaseName(p)), p);
  }
  EXPECT_EQ(PhaseNamed("unknown"), v1::ACTIVITY_PHASE_UNSPECIFIED);
}

TEST(ActivityTest, OnlyWordsOfHostsArePublic) {
  EXPECT_TRUE(IsPublicLabel("Running multiple tools"));
  EXPECT_TRUE(IsPublicLabel("Turn settled"));
  EXPECT_FALSE(IsPublicLabel("running command"));
  EXPECT_FALSE(IsPublicLabel("Running command ls"));
  EXPECT_FALSE(IsPublicLabel(""));
}

}  // namespace
}  // namespace intercom
