#include "worker-agent/link/broker_starter.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "broker/base/home.h"
#include "broker/base/lock_file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/stop_process.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/link/broker_process.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// Starts real processes of a stand-in for the broker, and ends them.
class BrokerStarterTest : public ::testing::Test {
 protected:
  ~BrokerStarterTest() override {
    unsetenv("FAKE_BROKER_FAIL");
    for (const pid_t pid : Starts()) kill(pid, SIGKILL);
  }

  BrokerStarter::Options Options() {
    return {.home = home_,
            .workspace = dir_.path(),
            .program = FAKE_BROKER,
            .start_timeout = absl::Seconds(20),
            .health_timeout = absl::Seconds(20)};
  }

  std::vector<pid_t> Starts() {
    std::ifstream file(home_ + "/starts");
    return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
  }

  TempDir dir_;
  const std::string home_ = dir_ / "state";
};

TEST_F(BrokerStarterTest, StartsABrokerThatOutlivesTheCall) {
  ASSERT_THAT(BrokerStarter(Options()).Ensure(), IsOk());
  ASSERT_THAT(Starts(), SizeIs(1));
  const auto holder =
      static_cast<pid_t>(LockFile::Holder(BrokerLockPath(home_)));
  EXPECT_EQ(holder, Starts()[0]);
  EXPECT_NE(getsid(holder), getsid(0));
  const std::string proc = "/proc/" + std::to_string(holder);
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/cwd"), "/");
  EXPECT_EQ(std::filesystem::read_symlink(proc + "/fd/0"), "/dev/null");
}

TEST_F(BrokerStarterTest, LeavesARunningBrokerAlone) {
  ASSERT_THAT(BrokerStarter(Options()).Ensure(), IsOk());
  ASSERT_THAT(BrokerStarter(Options()).Ensure(), IsOk());
  EXPECT_THAT(Starts(), SizeIs(1));
}

TEST_F(BrokerStarterTest, ManyStartersAtOnceStartOneBroker) {
  std::vector<pid_t> starters;
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = fork();
    if (pid == 0) {
      // A program of its own: gRPC does not survive a fork.
      setenv("STARTER_HOME", home_.c_str(), 1);
      execl("/proc/self/exe", "starter",
            "--gtest_filter=Starter.DISABLED_Child",
            "--gtest_also_run_disabled_tests", nullptr);
      _exit(127);
    }
    starters.push_back(pid);
  }
  for (const pid_t pid : starters) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(Starts(), SizeIs(1));
}

// Not a test, and run by name only: what the processes of the test above run.
TEST(Starter, DISABLED_Child) {
  const char* home = std::getenv("STARTER_HOME");
  ASSERT_NE(home, nullptr);
  EXPECT_THAT(BrokerStarter({.home = home,
                             .workspace = "/",
                             .program = FAKE_BROKER,
                             .start_timeout = absl::Seconds(20),
                             .health_timeout = absl::Seconds(20)})
                  .Ensure(),
              IsOk());
}

TEST_F(BrokerStarterTest, TellsWhyABrokerRefusesToStart) {
  setenv("FAKE_BROKER_FAIL", "error STORE_NEWER the store is newer", 1);
  const absl::Status status = BrokerStarter(Options()).Ensure();
  EXPECT_THAT(status,
              FailsWith(absl::StatusCode::kFailedPrecondition, "STORE_NEWER"));
  EXPECT_EQ(status.message(), "the store is newer");
}

TEST_F(BrokerStarterTest, TellsWhereTheLogOfADeadBrokerIs) {
  setenv("FAKE_BROKER_FAIL", "die", 1);
  const absl::Status status = BrokerStarter(Options()).Ensure();
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kUnavailable, "BROKER_DIED"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(BrokerLogPath(home_)));
  EXPECT_THAT(Starts(), SizeIs(2));
}

TEST_F(BrokerStarterTest, ABrokerThatWasKilledAtItsStartIsStartedAgain) {
  setenv("FAKE_BROKER_FAIL", "die once", 1);
  EXPECT_THAT(BrokerStarter(Options()).Ensure(), IsOk());
  EXPECT_THAT(Starts(), SizeIs(2));
}

TEST_F(BrokerStarterTest, NamesABrokerThatHangs) {
  ASSERT_THAT(BrokerStarter(Options()).Ensure(), IsOk());
  const pid_t pid = Starts()[0];
  ASSERT_TRUE(StopProcess(pid));
  BrokerStarter::Options options = Options();
  options.health_timeout = absl::Milliseconds(300);
  const absl::Status status = BrokerStarter(options).Ensure();
  EXPECT_THAT(status, FailsWith(absl::StatusCode::kUnavailable, "BROKER_HUNG"));
  EXPECT_THAT(std::string(status.message()), HasSubstr(std::to_string(pid)));
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("intercom broker restart"));
}

TEST_F(BrokerStarterTest, AMissingBrokerIsToldInWords) {
  setenv("PI_INTERCOM_BROKER", "/no/such/program", 1);
  BrokerStarter::Options options = Options();
  options.program = "";
  EXPECT_THAT(BrokerStarter(options).Ensure(),
              FailsWith(absl::StatusCode::kNotFound, "BROKER_NOT_FOUND"));
  unsetenv("PI_INTERCOM_BROKER");
}

TEST(BrokerEnvironmentTest, LeavesSessionAndTerminalOutAndOutlivesGuards) {
  const char* const environment[] = {
      "PATH=/bin",  "PI_SESSION_ID=x", "PI_INTERCOM_SESSION=x",
      "TERM=xterm", "TMUX_PANE=%1",    "PI_INTERCOM_HOME=/h",
      "HOME=/root", "HERDR_ENV=1",     nullptr};
  EXPECT_THAT(BrokerEnvironment(environment),
              ElementsAre("PATH=/bin", "PI_INTERCOM_HOME=/h", "HOME=/root",
                          "PI_INTERCOM_OUTLIVES=1"));
}

TEST(ReadyLineTest, ReadsPortsAndErrors) {
  EXPECT_EQ(ParseReadyLine("ready 4711").value_or(-1), 4711);
  EXPECT_EQ(ParseReadyLine("ready 0").value_or(-1), 0);
  EXPECT_THAT(ParseReadyLine("ready x"),
              FailsWith(absl::StatusCode::kUnavailable, "BROKER_DIED"));
  EXPECT_THAT(ParseReadyLine("ready 70000"),
              FailsWith(absl::StatusCode::kUnavailable, "BROKER_DIED"));
  EXPECT_THAT(ParseReadyLine("error HOME_REMOTE it is NFS"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "HOME_REMOTE"));
}

}  // namespace
}  // namespace intercom
