// The program on a real terminal, against a broker that tells of the sample
// team. The screens are golden texts: UPDATE_GOLDEN=1 writes them.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "broker/base/home.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/monitor/tmux_screen.h"
#include "tests/support/fake_inspection.h"
#include "tests/support/hostile_text.h"
#include "tests/support/sample_team.h"
#include "tests/support/temp_dir.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// What a slow machine and a new version change. Two digits stay two: no age of
// the sample team reads differently within 20 s.
std::string Settled(std::string text) {
  constexpr std::string_view kAgo = "s ago";
  for (size_t at = text.find(kAgo); at != text.npos;
       at = text.find(kAgo, at + 1)) {
    text.replace(at - 2, 2, "##");
  }
  return absl::StrReplaceAll(text, {{INTERCOM_VERSION, "X.Y.Z"}});
}

// Whether red, green or yellow is in it.
bool HasColours(const std::string& coloured) {
  for (const char* code : {"31m", "32m", "33m"}) {
    if (absl::StrContains(coloured, code)) return true;
  }
  return false;
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class MonitorScreensTest : public ::testing::Test {
 protected:
  MonitorScreensTest() { Serve(); }

  void Serve() {
    fake_ = std::make_unique<FakeInspection>(home_.path());
    fake_->SetDeliveries(SampleTeam::Deliveries());
    fake_->SetSession(SampleTeam::Reviewer());
    fake_->SetMessage(SampleTeam::Record(
        "d12", "Which endpoint do the tests post to?\nBoth exist."));
    fake_->SetOverview(SampleTeam::Overview());
  }

  // With `variables`, each "NAME=value", that the program gets.
  std::unique_ptr<TmuxScreen> Open(size_t columns, size_t rows,
                                   std::vector<std::string> variables = {}) {
    std::vector<std::string> words = {"env"};
    words.insert(words.end(), variables.begin(), variables.end());
    words.insert(words.end(), {INTERCOM_BIN, "--home", home_.path(), "monitor",
                               "-C", "/proj/ann/shop"});
    return std::make_unique<TmuxScreen>(tmux_.path(), columns, rows, words);
  }

  // That the screen comes to look like the golden text of that name.
  static void ExpectGolden(TmuxScreen& screen, const std::string& name) {
    const std::string path = std::string(MONITOR_GOLDEN) + "/" + name + ".txt";
    const char* update = std::getenv("UPDATE_GOLDEN");
    if (update != nullptr && *update != '\0') {
      // Settled when it looks the same twice, half a second apart.
      std::string before;
      const SystemClock clock;
      absl::Duration since = clock.Steady();
      const std::string text = screen.Until([&](const std::string& now) {
        if (Settled(now) != before) since = clock.Steady();
        before = Settled(now);
        return clock.Steady() - since > absl::Seconds(0.5);
      });
      std::ofstream(path, std::ios::binary) << Settled(text);
      return;
    }
    const std::string golden = ReadFile(path);
    ASSERT_FALSE(golden.empty()) << "there is no " << path;
    EXPECT_EQ(Settled(screen.Until([&golden](const std::string& text) {
                return Settled(text) == golden;
              })),
              golden);
  }

  TempDir home_;
  TempDir tmux_;
  std::unique_ptr<FakeInspection> fake_;
};

TEST_F(MonitorScreensTest, TheTableAtFourSizes) {
  for (const auto& [columns, rows] : std::vector<std::pair<size_t, size_t>>{
           {40, 10}, {80, 24}, {120, 40}, {300, 80}}) {
    const std::unique_ptr<TmuxScreen> screen = Open(columns, rows);
    screen->UntilHas("Reviewer");
    ExpectGolden(*screen, "table-" + std::to_string(columns) + "x" +
                              std::to_string(rows));
  }
}

TEST_F(MonitorScreensTest, EachViewHasAKey) {
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24);
  screen->UntilHas("Reviewer");
  screen->Press("t");
  ExpectGolden(*screen, "timeline-80x24");
  screen->Press("b");
  ExpectGolden(*screen, "message-80x24");
  screen->Press("w");
  ExpectGolden(*screen, "waits-80x24");
  screen->Press("Escape");
  screen->Press("?");
  ExpectGolden(*screen, "help-80x24");
}

TEST_F(MonitorScreensTest, DetailsStandBelowTheTableOrFillALowScreen) {
  for (const auto& [columns, rows] :
       std::vector<std::pair<size_t, size_t>>{{40, 10}, {80, 24}, {120, 40}}) {
    const std::unique_ptr<TmuxScreen> screen = Open(columns, rows);
    screen->UntilHas("Reviewer");
    screen->Press("Down");
    screen->Press("Down");
    screen->Press("Enter");
    ExpectGolden(*screen, "details-" + std::to_string(columns) + "x" +
                              std::to_string(rows));
  }
}

TEST_F(MonitorScreensTest, TwoHundredFiftySixWorkersAndTheLastOfThem) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  for (int i = 1; i <= 249; ++i) {
    *overview.mutable_workspaces(0)->add_sessions() = SampleTeam::Session(
        "crowd-" + std::to_string(i), "Worker " + std::to_string(i),
        v1::ROLE_WORKER, absl::Seconds(30), v1::ACTIVITY_PHASE_IDLE, "");
  }
  fake_->SetOverview(overview);
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24);
  screen->UntilHas("of 256");
  screen->Press("End");
  ExpectGolden(*screen, "crowd-80x24");
}

TEST_F(MonitorScreensTest, HostileNamesStayInTheirRow) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  v1::WorkspaceOverview& workspace = *overview.mutable_workspaces(0);
  workspace.clear_sessions();
  std::vector<std::string> names;
  for (const std::string& text : HostileTexts()) {
    // No message carries what is not UTF-8.
    if (CountCharacters(text).has_value()) names.push_back(text);
  }
  names.insert(names.begin(), {"👩\u200d👩\u200d👧\u200d👦 family", "🇩🇪🇫🇷 flags",
                               "e\u0301\u0302 marks", "翻訳翻訳翻訳翻訳翻訳"});
  for (size_t i = 0; i < names.size(); ++i) {
    *workspace.add_sessions() = SampleTeam::Session(
        "id-" + std::to_string(i), names[i], v1::ROLE_WORKER, absl::Minutes(90),
        v1::ACTIVITY_PHASE_IDLE, names[i]);
  }
  fake_->SetOverview(overview);
  const std::unique_ptr<TmuxScreen> screen = Open(120, 40);
  screen->UntilHas("marks");
  ExpectGolden(*screen, "hostile-120x40");
}

TEST_F(MonitorScreensTest, AResizeIsFollowedAtOnce) {
  const std::unique_ptr<TmuxScreen> screen = Open(120, 40);
  screen->UntilHas("Last activity");
  screen->Resize(80, 24);
  ExpectGolden(*screen, "table-80x24");
  screen->Resize(40, 10);
  ExpectGolden(*screen, "table-40x10");
  screen->Resize(300, 80);
  ExpectGolden(*screen, "table-300x80");
}

TEST_F(MonitorScreensTest, ABrokerThatGoesIsToldAndNoneIsStarted) {
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24);
  screen->UntilHas("Reviewer");
  fake_.reset();
  EXPECT_THAT(screen->UntilHas("No broker answers"),
              AllOf(HasSubstr("No broker answers"), HasSubstr("  away "),
                    HasSubstr("Reviewer")));
  EXPECT_FALSE(std::filesystem::exists(BrokerLockPath(home_.path().string())));
  Serve();
  EXPECT_THAT(screen->UntilHas("1 overdue"), HasSubstr("1 overdue"));
  EXPECT_THAT(screen->Text(), Not(HasSubstr("No broker answers")));
}

TEST_F(MonitorScreensTest, EveryWayOutGivesTheTerminalBack) {
  for (const char* key : {"q", "C-c", "Escape"}) {
    const std::unique_ptr<TmuxScreen> screen = Open(80, 24);
    screen->UntilHas("Reviewer");
    screen->Press(key);
    EXPECT_EQ(screen->UntilHas("ended").substr(0, 8), "ended 0\n") << key;
  }
}

TEST_F(MonitorScreensTest, ColoursHaveAMeaningAndNoColorTakesThemAway) {
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24);
  screen->UntilHas("Reviewer");
  EXPECT_TRUE(HasColours(screen->Coloured()));
  const std::unique_ptr<TmuxScreen> without = Open(80, 24, {"NO_COLOR=1"});
  without->UntilHas("Reviewer");
  EXPECT_FALSE(HasColours(without->Coloured())) << without->Coloured();
}

TEST_F(MonitorScreensTest, ALocaleWithoutUtf8IsHelped) {
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24, {"LC_ALL=C"});
  EXPECT_THAT(screen->UntilHas("翻訳 担当"), HasSubstr("翻訳 担当"));
  screen->Press("?");
  EXPECT_THAT(screen->UntilHas("Characters"),
              HasSubstr("UTF-8, by C.UTF-8: the locale C knows no UTF-8"));
}

TEST_F(MonitorScreensTest, ADumbTerminalIsRefusedInWords) {
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24, {"TERM=dumb"});
  EXPECT_THAT(screen->UntilHas("ended"),
              AllOf(HasSubstr("TERM"), HasSubstr("ended 1"),
                    HasSubstr("intercom list")));
}

TEST_F(MonitorScreensTest, AnUnknownTerminalIsRefusedInWords) {
  const std::unique_ptr<TmuxScreen> screen = Open(80, 24, {"TERM=teletype-33"});
  EXPECT_THAT(screen->UntilHas("ended"),
              AllOf(HasSubstr("teletype-33"), HasSubstr("ended 1")));
}

TEST_F(MonitorScreensTest, WithoutATerminalItIsRefusedInWords) {
  const SystemClock clock;
  const CommandRunner runner(
      clock, {{"TERM", "xterm"}, {"ASAN_OPTIONS", "detect_leaks=0"}}, {});
  const absl::StatusOr<CommandOutput> output =
      runner.Run({INTERCOM_BIN, "--home", home_.path().string(), "monitor"});
  ASSERT_TRUE(output.ok()) << output.status();
  EXPECT_EQ(output->exit_code, 1);
  EXPECT_THAT(output->err,
              AllOf(HasSubstr("is no terminal"), HasSubstr("intercom list")));
}

}  // namespace
}  // namespace intercom
