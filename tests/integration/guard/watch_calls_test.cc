// The tool intercom_watch over real programs.
#include "worker-agent/watch/watch_calls.h"

#include <signal.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "broker/base/clock.h"
#include "broker/base/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/link/inbox.h"
#include "tests/unit/link/loop_thread.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class WatchCallsTest : public ::testing::Test {
 protected:
  WatchCallsTest() {
    around_.agent_path = "/proc/self/exe";
    around_.environment = {{"PATH", "/usr/bin:/bin"}, {"OWN", "value"}};
    loop_.Do([this] {
      watches_ = std::make_unique<WatchCalls>(
          loop_.runner(), clock_, random_, around_,
          [this](const std::optional<WatchBulletin>& bulletin) {
            if (!bulletin.has_value()) return bulletins_.Put({});
            bulletins_.Put(*bulletin);
            watches_->Told(bulletin->ids);
          },
          [this](const std::string& call_id, const ToolResult& result) {
            answers_.Put(result);
          });
      watches_->SetDirectory(folder_.path());
      watches_->SetAllowed(true);
    });
  }
  ~WatchCallsTest() override {
    loop_.Do([this] { watches_.reset(); });
  }

  void Begin(const Json& arguments, const std::string& call_id = "call") {
    loop_.Do([&] { watches_->Call(arguments, call_id); });
  }
  ToolResult Call(const Json& arguments) {
    Begin(arguments);
    return answers_.Take().value_or(ToolResult());
  }
  static Json Shell(const std::string& script, Json more = Json::object()) {
    Json arguments = {
        {"action", "arm"}, {"command", "sh"}, {"args", {"-c", script}}};
    arguments.update(more);
    return arguments;
  }
  std::string Arm(const Json& arguments) {
    const ToolResult result = Call(arguments);
    EXPECT_FALSE(result.is_error) << result.text;
    return StringOr(result.details, "watchId", "");
  }
  std::string Next() {
    return bulletins_.Take().value_or(WatchBulletin()).content;
  }
  // The process that wrote its id to that file.
  int64_t Named(const std::string& name) {
    std::string line;
    while (!std::getline(std::ifstream(folder_ / name), line)) {
      std::this_thread::yield();
    }
    return std::atoll(line.c_str());
  }
  static void AwaitEnd(int64_t pid) {
    while (StartTicksOf(pid) != 0) std::this_thread::yield();
  }

  TempDir folder_;
  SystemClock clock_;
  SystemRandom random_;
  Surroundings around_;
  Inbox<ToolResult> answers_;
  Inbox<WatchBulletin> bulletins_;
  LoopThread loop_;
  std::unique_ptr<WatchCalls> watches_;
};

TEST_F(WatchCallsTest, LinesAreToldAndTheLastOneEndsTheProgram) {
  Arm(Shell("echo $$ > pid; echo one; echo one; echo two; exec sleep 1000",
            {{"maxEvents", 2}, {"label", "build"}}));
  std::string all = Next();
  while (all.find("two") == std::string::npos) all += Next();
  EXPECT_THAT(all, HasSubstr("(build) wrote"));
  EXPECT_THAT(all, HasSubstr("> one"));
  EXPECT_THAT(all, HasSubstr("the last line that was asked for"));
  AwaitEnd(Named("pid"));
}

TEST_F(WatchCallsTest, ExitModeTellsOnceWithBothOutputs) {
  Arm(Shell("echo out; echo err >&2; exit 3", {{"mode", "exit"}}));
  const std::string text = Next();
  EXPECT_THAT(text, HasSubstr("ended with exit code 3"));
  EXPECT_THAT(text, HasSubstr("> out"));
  EXPECT_THAT(text, HasSubstr("> err"));
}

TEST_F(WatchCallsTest, TheDeadlineEndsItAndKeepsItsStandardError) {
  Arm(Shell("echo $$ > pid; echo err >&2; printf begun; exec sleep 1000",
            {{"timeoutSeconds", 1}}));
  const std::string text = Next();
  EXPECT_THAT(text, HasSubstr("reached its deadline"));
  EXPECT_THAT(text, HasSubstr("> err"));
  EXPECT_THAT(text, HasSubstr("> begun"));
  AwaitEnd(Named("pid"));
}

TEST_F(WatchCallsTest, ArgumentsAreLiteralAndInputIsClosed) {
  Arm({{"action", "arm"},
       {"command", "sh"},
       {"args",
        {"-c", "printf '%s|' \"$@\" \"$OWN\"; cat", "sh", "$(id) *", "",
         "a b"}},
       {"mode", "exit"}});
  EXPECT_THAT(Next(), HasSubstr("> $(id) *||a b|value|"));
}

TEST_F(WatchCallsTest, AStartThatFailsRefusesTheCallAndTellsNothing) {
  ToolResult result = Call({{"action", "arm"}, {"command", "no-such-program"}});
  EXPECT_EQ(result.reason, "START_FAILED");
  std::ofstream(folder_ / "text") << "no program";
  chmod((folder_ / "text").c_str(), 0700);
  result = Call({{"action", "arm"}, {"command", "./text"}});
  EXPECT_TRUE(result.is_error);
  EXPECT_EQ(result.reason, "START_FAILED");
  EXPECT_THAT(Call({{"action", "list"}}).text, HasSubstr("No watch is active"));
  EXPECT_EQ(bulletins_.size(), 0U);
}

TEST_F(WatchCallsTest, CancellingIsSilentAndEndsTheProgram) {
  const std::string id =
      Arm(Shell("echo $$ > pid; trap 'echo late; exit 1' TERM; while :; do "
                "sleep 0.05; done"));
  EXPECT_THAT(Call({{"action", "list"}}).text, HasSubstr(id));
  const int64_t pid = Named("pid");
  // It may take its time to end.
  EXPECT_EQ(
      Call({{"action", "cancel"}, {"id", id}}).text,
      "Watch " + id + " was cancelled, and its program is being ended.\n");
  AwaitEnd(pid);
  const ToolResult again = Call({{"action", "cancel"}, {"id", id}});
  EXPECT_EQ(again.reason, "WATCH_UNKNOWN");
  EXPECT_THAT(again.text, HasSubstr("list shows those that there are"));
  EXPECT_EQ(bulletins_.size(), 0U);
}

TEST_F(WatchCallsTest, EightAreTheMost) {
  for (int i = 0; i < 8; ++i) Arm(Shell("exec sleep 1000"));
  EXPECT_EQ(Call(Shell("true")).reason, "WATCHES_FULL");
}

TEST_F(WatchCallsTest, WithoutPermissionNothingIsArmedButCancelWorks) {
  const std::string id = Arm(Shell("echo $$ > pid; exec sleep 1000"));
  const int64_t pid = Named("pid");
  loop_.Do([this] { watches_->SetAllowed(false); });
  EXPECT_THAT(Next(), HasSubstr("may not run programs any more"));
  AwaitEnd(pid);
  EXPECT_EQ(Call(Shell("true")).reason, "PROGRAMS_NOT_ALLOWED");
  EXPECT_EQ(Call({{"action", "cancel"}, {"id", id}}).reason, "WATCH_UNKNOWN");
  EXPECT_FALSE(Call({{"action", "list"}}).is_error);
}

TEST_F(WatchCallsTest, ACallThatIsCancelledWhileItStartsWatchesNothing) {
  loop_.Do([this] {
    watches_->Call(Shell("echo x"), "cancelled");
    const auto result = watches_->Cancel("cancelled");
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(result->reason, "CANCELLED");
  });
  EXPECT_THAT(Call({{"action", "list"}}).text, HasSubstr("No watch"));
  EXPECT_EQ(answers_.size(), 0U);
  EXPECT_EQ(bulletins_.size(), 0U);
}

TEST_F(WatchCallsTest, EverythingEndsWithTheSession) {
  Arm(
      Shell("echo $$ > pid; setsid sh -c 'echo $$ > deep; exec sleep 1000' & "
            "exec sleep 1000"));
  const int64_t pid = Named("pid"), deep = Named("deep");
  loop_.Do([this] { watches_.reset(); });
  AwaitEnd(pid);
  AwaitEnd(deep);
}

TEST_F(WatchCallsTest, AKilledGuardIsSaid) {
  Arm(Shell("echo $PPID > guard; echo $$ > pid; exec sleep 1000"));
  const int64_t guard = Named("guard"), pid = Named("pid");
  kill(static_cast<pid_t>(guard), SIGKILL);
  EXPECT_THAT(Next(), HasSubstr("was lost"));
  AwaitEnd(pid);
}

TEST_F(WatchCallsTest, AProgramThatWritesWithoutEndIsHeardToItsLastLine) {
  Arm(Shell("yes", {{"maxEvents", 2}, {"timeoutSeconds", 1}}));
  std::string all = Next();
  while (all.find("deadline") == std::string::npos) all += Next();
  EXPECT_THAT(all, HasSubstr("> y"));
  EXPECT_THAT(all, HasSubstr("after 1 line"));
}

}  // namespace
}  // namespace intercom
