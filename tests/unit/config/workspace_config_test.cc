#include "broker/config/workspace_config.h"

#include <ostream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/support/status_matchers.h"
#include "tests/unit/config/sample_config.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kPath[] = "/w/.pi-intercom/config.json";

absl::StatusOr<WorkspaceConfig> Parse(std::string_view bytes) {
  return WorkspaceConfig::Parse(bytes, kPath);
}

// A JSON patch (RFC 6902) of the sample and what the refusal says.
struct Rule {
  const char* name;
  std::string patch;
  std::string message;
};

void PrintTo(const Rule& rule, std::ostream* out) { *out << rule.name; }

std::string Patched(const std::string& patch) {
  return nlohmann::json::parse(kSample)
      .patch(nlohmann::json::parse("[" + patch + "]"))
      .dump(2);
}

std::string Replace(const std::string& pointer, const std::string& value) {
  return R"({"op": "add", "path": ")" + pointer + R"(", "value": )" + value +
         "}";
}
std::string Remove(const std::string& pointer) {
  return R"({"op": "remove", "path": ")" + pointer + R"("})";
}
std::string Text(size_t size) { return "\"" + std::string(size, 'x') + "\""; }

class RuleTest : public ::testing::TestWithParam<Rule> {};

TEST_P(RuleTest, IsEnforcedAndNamedByPointer) {
  const auto config = Parse(Patched(GetParam().patch));

  EXPECT_THAT(config, FailsWith(absl::StatusCode::kFailedPrecondition,
                                "CONFIG_INVALID"));
  EXPECT_EQ(MessageOf(config.status()), kPath + (": " + GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Broken, RuleTest,
    ::testing::Values(
        Rule{"NoVersion", Remove("/version"), "/version is missing"},
        Rule{"OtherVersion", Replace("/version", "2"), "/version is not 1"},
        Rule{"TextVersion", Replace("/version", "\"1\""), "/version is not 1"},
        Rule{"UnknownMultiplexer", Replace("/multiplexer", "\"screen\""),
             "/multiplexer is none of headless, herdr, none, tmux"},
        Rule{"NoAgents", Remove("/agents"), "/agents is missing"},
        Rule{"AgentsNoArray", Replace("/agents", "{}"),
             "/agents is not an array"},
        Rule{"AgentNoObject", Replace("/agents/1", "7"),
             "/agents has an entry that is no object: 1"},
        Rule{"NoId", Remove("/agents/1/sessionId"),
             "/agents/1/sessionId is missing"},
        Rule{"NumericId", Replace("/agents/1/sessionId", "1"),
             "/agents/1/sessionId is not a string"},
        Rule{"EmptyId", Replace("/agents/1/sessionId", "\"\""),
             "/agents/1/sessionId is empty"},
        Rule{"BlankId", Replace("/agents/1/sessionId", R"(" \u00a0\t")"),
             "/agents/1/sessionId is blank"},
        Rule{"NulInId", Replace("/agents/1/sessionId", R"("a\u0000b")"),
             "/agents/1/sessionId contains NUL"},
        Rule{"LongId", Replace("/agents/1/sessionId", Text(257)),
             "/agents/1/sessionId is longer than 256 characters"},
        Rule{"SameId", Replace("/agents/1/sessionId", "\"c-1\""),
             "/agents/1/sessionId is used by another entry"},
        Rule{"NoName", Remove("/agents/1/name"), "/agents/1/name is missing"},
        Rule{"EmptyName", Replace("/agents/1/name", "\"\""),
             "/agents/1/name is empty"},
        Rule{"LongName", Replace("/agents/1/name", Text(129)),
             "/agents/1/name is longer than 128 characters"},
        Rule{"UntrimmedName", Replace("/agents/1/name", "\" a\""),
             "/agents/1/name starts or ends with white space"},
        Rule{"UnicodeUntrimmedName", Replace("/agents/1/name", R"("a\u2003")"),
             "/agents/1/name starts or ends with white space"},
        Rule{"ControlInName", Replace("/agents/1/name", R"("a\u001bb")"),
             "/agents/1/name contains a control character"},
        Rule{"C1InName", Replace("/agents/1/name", R"("a\u009bb")"),
             "/agents/1/name contains a control character"},
        Rule{"CoordinatorNoBoolean", Replace("/agents/1/coordinator", "0"),
             "/agents/1/coordinator is not true or false"},
        Rule{"EmptyDescription", Replace("/agents/1/description", "\"\""),
             "/agents/1/description is empty"},
        Rule{"LongDescription", Replace("/agents/1/description", Text(4097)),
             "/agents/1/description is longer than 4096 characters"},
        Rule{"NoPort", Remove("/agents/1/port"), "/agents/1/port is missing"},
        Rule{"PortZero", Replace("/agents/1/port", "0"),
             "/agents/1/port is not a whole number from 1 to 65535"},
        Rule{"PortTooLarge", Replace("/agents/1/port", "65536"),
             "/agents/1/port is not a whole number from 1 to 65535"},
        Rule{"PortFraction", Replace("/agents/1/port", "1.5"),
             "/agents/1/port is not a whole number from 1 to 65535"},
        Rule{"PortText", Replace("/agents/1/port", "\"1\""),
             "/agents/1/port is not a whole number from 1 to 65535"},
        Rule{"EmptyDirectory", Replace("/agents/1/projectDirectory", "\"\""),
             "/agents/1/projectDirectory is empty; write . for the workspace "
             "root"},
        Rule{"AbsoluteDirectory",
             Replace("/agents/1/projectDirectory", "\"/a\""),
             "/agents/1/projectDirectory is absolute; it must be relative to "
             "the workspace root"},
        Rule{"WindowsDrive",
             Replace("/agents/1/projectDirectory", R"("c:\\a")"),
             "/agents/1/projectDirectory is absolute; it must be relative to "
             "the workspace root"},
        Rule{"WindowsShare",
             Replace("/agents/1/projectDirectory", R"("\\\\a")"),
             "/agents/1/projectDirectory is absolute; it must be relative to "
             "the workspace root"},
        Rule{"Traversal", Replace("/agents/1/projectDirectory", "\"a/../b\""),
             "/agents/1/projectDirectory has a .. segment"},
        Rule{"WindowsTraversal",
             Replace("/agents/1/projectDirectory", R"("a\\..")"),
             "/agents/1/projectDirectory has a .. segment"},
        Rule{"NoCoordinator", Remove("/agents/0"),
             "/agents has no coordinator"},
        Rule{
            "TwoCoordinators",
            Replace(
                "/agents/1",
                R"({"sessionId": "c-2", "name": "Coordinator", "coordinator": true,
                 "description": "d", "port": 1, "projectDirectory": "."})"),
            "/agents/1/coordinator marks a second coordinator"},
        Rule{"CoordinatorMisnamed", Replace("/agents/0/name", "\"Boss\""),
             "/agents/0/name is not Coordinator, the coordinator's name"},
        Rule{"CoordinatorLowerCase",
             Replace("/agents/0/name", "\"coordinator\""),
             "/agents/0/name is not Coordinator, the coordinator's name"},
        Rule{"CoordinatorElsewhere",
             Replace("/agents/0/projectDirectory", "\"a\""),
             "/agents/0/projectDirectory of the coordinator is not ."},
        Rule{"WorkerNamedCoordinator",
             Replace("/agents/1/name", "\"COORDINATOR\""),
             "/agents/1/name is the coordinator's; choose another"},
        Rule{"SameNameOtherCase",
             Replace(
                 "/agents/-",
                 R"({"sessionId": "w-2", "name": "äRGER", "coordinator": false,
                 "description": "d", "port": 1, "projectDirectory": "."})"),
             "/agents/2/name is used by another entry"},
        Rule{"CoordinatorHandoff", Replace("/agents/0/handoff", "{}"),
             "/agents/0/handoff is for workers only"},
        Rule{"CoordinatorCloseJob", Replace("/agents/0/closeJob", "{}"),
             "/agents/0/closeJob is for workers only"},
        Rule{"WorkerDashboard", Replace("/agents/1/dashboardPort", "1"),
             "/agents/1/dashboardPort is for the coordinator only"},
        Rule{"DashboardPortRange", Replace("/agents/0/dashboardPort", "70000"),
             "/agents/0/dashboardPort is not a whole number from 1 to 65535"}));

INSTANTIATE_TEST_SUITE_P(
    BrokenRecords, RuleTest,
    ::testing::Values(
        Rule{"HandoffNoObject", Replace("/agents/1/handoff", "null"),
             "/agents/1/handoff is not an object"},
        Rule{"HandoffUnknownKey", Replace("/agents/1/handoff/a~1b", "1"),
             "/agents/1/handoff/a~1b is not a known key"},
        Rule{"HandoffVersion", Replace("/agents/1/handoff/version", "2"),
             "/agents/1/handoff/version is not 1"},
        Rule{"HandoffNoJob", Remove("/agents/1/handoff/jobId"),
             "/agents/1/handoff/jobId is missing"},
        Rule{"HandoffJob", Replace("/agents/1/handoff/jobId", "\"a_b\""),
             "/agents/1/handoff/jobId has characters other than letters, "
             "digits and -"},
        Rule{"HandoffLongJob", Replace("/agents/1/handoff/jobId", Text(129)),
             "/agents/1/handoff/jobId is longer than 128 characters"},
        Rule{"HandoffSummary", Replace("/agents/1/handoff/summary", Text(4001)),
             "/agents/1/handoff/summary is longer than 4000 characters"},
        Rule{"HandoffTime", Replace("/agents/1/handoff/updatedAt", "\"now\""),
             "/agents/1/handoff/updatedAt is not a time like "
             "2026-01-31T12:00:00Z"},
        Rule{"HandoffEndlessTime",
             Replace("/agents/1/handoff/updatedAt", "\"infinite-future\""),
             "/agents/1/handoff/updatedAt is not a time like "
             "2026-01-31T12:00:00Z"},
        Rule{"HandoffLongTime",
             Replace("/agents/1/handoff/updatedAt",
                     "\"2026-01-31T12:00:00.000000000000Z\""),
             "/agents/1/handoff/updatedAt is longer than 32 characters"},
        Rule{"JobNoObject", Replace("/agents/1/closeJob", "[]"),
             "/agents/1/closeJob is not an object"},
        Rule{"JobUnknownKey", Replace("/agents/1/closeJob/pid", "1"),
             "/agents/1/closeJob/pid is not a known key"},
        Rule{"JobEmptyId", Replace("/agents/1/closeJob/jobId", "\"\""),
             "/agents/1/closeJob/jobId is empty"},
        Rule{"JobState", Replace("/agents/1/closeJob/state", "\"open\""),
             "/agents/1/closeJob/state is none of awaiting_handoff, "
             "awaiting_settlement, closed, closing, failed, interrupted, "
             "ready, requested, timed_out, uncertain"},
        Rule{"JobNoCreated", Remove("/agents/1/closeJob/createdAt"),
             "/agents/1/closeJob/createdAt is missing"},
        Rule{"JobUpdated", Replace("/agents/1/closeJob/updatedAt", "1"),
             "/agents/1/closeJob/updatedAt is not a string"},
        Rule{"JobDeadline",
             Replace("/agents/1/closeJob/deadlineAt",
                     "\"2026-02-30T00:00:00Z\""),
             "/agents/1/closeJob/deadlineAt is not a time like "
             "2026-01-31T12:00:00Z"},
        Rule{"JobReason", Replace("/agents/1/closeJob/reason", "\"a b\""),
             "/agents/1/closeJob/reason has characters other than letters, "
             "digits and _"}));

TEST(WorkspaceConfig, ReadsEntriesInTheOrderOfTheFile) {
  const auto config = Parse(kSample);

  ASSERT_THAT(config, IsOk());
  ASSERT_EQ(config->agents().size(), 2u);
  const v1::AgentEntry& worker = config->agents()[1];
  EXPECT_EQ(worker.session_id(), "w-1");
  EXPECT_EQ(worker.name(), "Ärger");
  EXPECT_FALSE(worker.coordinator());
  EXPECT_EQ(worker.description(), "Builds.");
  EXPECT_EQ(worker.port(), 4712);
  EXPECT_EQ(worker.project_directory(), "apps/build");
  EXPECT_EQ(config->coordinator().session_id(), "c-1");
  EXPECT_EQ(config->multiplexer(), "tmux");
}

TEST(WorkspaceConfig, TakesAConfigOfTheReferenceSystemsAsItIs) {
  const auto config = Parse(kReferenceConfig);
  ASSERT_THAT(config, IsOk());
  ASSERT_EQ(config->agents().size(), 3u);
  EXPECT_EQ(config->coordinator().port(), 49152);
  EXPECT_EQ(config->multiplexer(), "herdr");
  EXPECT_EQ(config->FindByName("frontend")->project_directory(), "apps/web");
}

TEST(WorkspaceConfig, FindsByNameInAnyCaseAndBySessionExactly) {
  const auto config = Parse(kSample);

  ASSERT_THAT(config, IsOk());
  EXPECT_EQ(config->FindByName("äRGER"), &config->agents()[1]);
  EXPECT_EQ(config->FindByName("coordinator"), &config->agents()[0]);
  EXPECT_EQ(config->FindByName("Arger"), nullptr);
  EXPECT_EQ(config->FindBySession("w-1"), &config->agents()[1]);
  EXPECT_EQ(config->FindBySession("W-1"), nullptr);
}

TEST(WorkspaceConfig, TakesEveryMultiplexerAndHerdrWithoutOne) {
  for (const std::string name : {"herdr", "tmux", "none", "headless"}) {
    const auto config =
        Parse(Patched(Replace("/multiplexer", "\"" + name + "\"")));
    ASSERT_THAT(config, IsOk());
    EXPECT_EQ(config->multiplexer(), name);
  }
  EXPECT_EQ(Parse(Patched(Remove("/multiplexer")))->multiplexer(), "herdr");
}

TEST(WorkspaceConfig, TakesTheLargestOfEverything) {
  // Limits count characters, not bytes.
  std::string name;
  for (int i = 0; i < 128; ++i) name += "ä";
  const std::string patch =
      Replace("/agents/1/sessionId", Text(256)) + "," +
      Replace("/agents/1/name", "\"" + name + "\"") + "," +
      Replace("/agents/1/description", Text(4096)) + "," +
      Replace("/agents/1/port", "65535") + "," +
      Replace("/agents/1/handoff/summary", Text(4000)) + "," +
      Replace("/agents/1/closeJob/jobId", Text(128)) + "," +
      Replace("/agents/1/projectDirectory", "\"a/..b/c..\"");
  EXPECT_THAT(Parse(Patched(patch)), IsOk());
}

TEST(WorkspaceConfig, TheEntryHashFollowsNameAndDescriptionOnly) {
  const std::string before = Parse(kSample)->agents()[1].entry_hash();

  const auto hash = [](const std::string& patch) {
    return Parse(Patched(patch))->agents()[1].entry_hash();
  };
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(hash(Replace("/agents/1/port", "1")), before);
  EXPECT_EQ(hash(Replace("/agents/1/projectDirectory", "\"x\"")), before);
  EXPECT_EQ(hash(Replace("/agents/1/sessionId", "\"x\"")), before);
  EXPECT_NE(hash(Replace("/agents/1/name", "\"ÄrgerB\"")), before);
  EXPECT_NE(hash(Replace("/agents/1/description", "\"uilds.\"")), before);
  // The end of the name and the start of the description do not mix.
  EXPECT_NE(hash(Replace("/agents/1/name", "\"ÄrgerB\"") + "," +
                 Replace("/agents/1/description", "\"uilds.\"")),
            before);
}

TEST(WorkspaceConfig, TheHashFollowsTheBytes) {
  const std::string spaced = std::string(kSample) + "\n";
  EXPECT_EQ(Parse(kSample)->hash(), Parse(kSample)->hash());
  EXPECT_NE(Parse(kSample)->hash(), Parse(spaced)->hash());
}

TEST(WorkspaceConfig, ReadsAByteOrderMarkAndWindowsLineEnds) {
  std::string text = "\xEF\xBB\xBF";
  for (const char c : std::string(kSample)) {
    if (c == '\n') text += '\r';
    text += c;
  }
  EXPECT_THAT(Parse(text), IsOk());
}

std::string Refusal(std::string_view bytes) {
  const auto config = Parse(bytes);
  EXPECT_THAT(config, FailsWith(absl::StatusCode::kFailedPrecondition,
                                "CONFIG_INVALID"));
  return MessageOf(config.status());
}

TEST(WorkspaceConfig, ASyntaxErrorNamesLineAndColumn) {
  EXPECT_THAT(Refusal("{\n  \"version\": 1,\n  oops\n}"),
              StartsWith(std::string(kPath) + ": line 3, column 3: "));
  EXPECT_THAT(Refusal("\xEF\xBB\xBF{]"), HasSubstr("line 1, column 2: "));
  EXPECT_THAT(Refusal(""), HasSubstr("line 1, column 1: "));
  EXPECT_THAT(Refusal("{\"a\": \"\xff\"}"), HasSubstr("line 1, column 8: "));
  EXPECT_THAT(Refusal("{} {}"), HasSubstr("line 1, column 4: "));
}

TEST(WorkspaceConfig, AnErrorDoesNotQuoteTheFile) {
  const std::string message =
      Refusal("{\"version\": \"" + std::string(100000, 'x'));
  EXPECT_LT(message.size(), 300u);
}

TEST(WorkspaceConfig, MergeMarkersAreNamedAsSuch) {
  const std::string conflict = With(kSample, "  \"multiplexer\": \"tmux\",\n",
                                    "<<<<<<< HEAD\n  \"multiplexer\": "
                                    "\"tmux\",\n=======\n>>>>>>> other\n");
  EXPECT_THAT(Refusal(conflict),
              HasSubstr("line 4, column 1: merge conflict marker"));
}

TEST(WorkspaceConfig, DuplicateKeysAreNamedByPointer) {
  EXPECT_THAT(Refusal(With(kSample, "\"port\": 4712,",
                           "\"port\": 4712, \"port\": 4713,")),
              HasSubstr("duplicate key /agents/1/port"));
  EXPECT_THAT(Refusal("{\"x\": {\"a/b\": 1, \"a\\/b\": 2}}"),
              HasSubstr("duplicate key /x/a~1b"));
}

TEST(WorkspaceConfig, TooLargeAndTooDeepAreRefused) {
  EXPECT_THAT(Refusal(std::string(kSample) + std::string(4 << 20, ' ')),
              HasSubstr("larger than the limit of 4 MiB"));
  EXPECT_THAT(Refusal(std::string(1 << 20, '[')),
              HasSubstr("nested deeper than 64 levels"));
}

TEST(WorkspaceConfig, WhatIsNoObjectIsRefused) {
  EXPECT_THAT(Refusal("[]"), HasSubstr("is not a JSON object"));
}

}  // namespace
}  // namespace intercom
