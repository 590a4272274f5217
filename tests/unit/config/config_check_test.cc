#include "broker/config/config_check.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/config/sample_config.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ConfigSnapshot SnapshotOf(const std::string& bytes) {
  auto config = WorkspaceConfig::Parse(bytes, "/w/.pi-intercom/config.json");
  EXPECT_TRUE(config.ok()) << config.status();
  return {.root = "/w", .config = *config, .hash = "h", .bytes = bytes};
}

std::vector<std::string> Messages(const std::string& bytes) {
  std::vector<std::string> messages;
  for (const v1::ConfigFinding& finding : FindingsOf(SnapshotOf(bytes))) {
    messages.push_back(finding.message());
  }
  return messages;
}

// A coordinator and a worker of that name.
std::string With(const std::string& name, const std::string& top = "") {
  return R"({"version": 1, )" + top + R"("agents": [
    {"sessionId": "c-1", "name": "Coordinator", "coordinator": true,
     "description": "d", "port": 1, "projectDirectory": "."},
    {"sessionId": "w-1", "name": ")" +
         name + R"(", "coordinator": false,
     "description": "d", "port": 1, "projectDirectory": "."}]})";
}

TEST(ConfigCheckTest, KeysWithoutMeaningAreNotesWithTheirPlace) {
  EXPECT_THAT(Messages(kSample),
              ElementsAre(HasSubstr("/futureSetting is kept"),
                          HasSubstr("/agents/0/dashboardPort is kept"),
                          HasSubstr("/agents/1/color is kept")));
}

TEST(ConfigCheckTest, AMissingMultiplexerIsANote) {
  EXPECT_THAT(Messages(With("Builder")),
              ElementsAre(HasSubstr("/multiplexer is missing")));
  EXPECT_THAT(Messages(With("Builder", R"("multiplexer": "tmux", )")),
              IsEmpty());
}

TEST(ConfigCheckTest, AWorkerThatHidesThePersonsMailboxIsAWarning) {
  const auto findings =
      FindingsOf(SnapshotOf(With("Person", R"("multiplexer": "tmux", )")));
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].severity(), v1::ConfigFinding::SEVERITY_WARNING);
  EXPECT_THAT(findings[0].message(), HasSubstr("/agents/1/name"));
}

TEST(ConfigCheckTest, ANameThatIsShownOtherwiseIsANote) {
  EXPECT_THAT(Messages(With("<b>Builder</b>", R"("multiplexer": "tmux", )")),
              ElementsAre(HasSubstr("is shown as \"b Builder b\"")));
}

TEST(ConfigCheckTest, OnlyWhatIsOnDiskIsAProblemOfTheConfig) {
  using absl::StatusCode;
  EXPECT_TRUE(IsConfigProblem(
      Error(StatusCode::kFailedPrecondition, "CONFIG_INVALID", "x")));
  EXPECT_TRUE(IsConfigProblem(
      Error(StatusCode::kFailedPrecondition, "CONFIG_UNREADABLE", "x")));
  EXPECT_FALSE(IsConfigProblem(
      Error(StatusCode::kUnavailable, "CONFIG_UNREADABLE", "x")));
  EXPECT_FALSE(IsConfigProblem(
      Error(StatusCode::kDeadlineExceeded, "CONFIG_TIMEOUT", "x")));
}

}  // namespace
}  // namespace intercom
