// Guards over real processes: shells that leave others behind in every way that
// a process can leave its parent, and agents and guards that die.
#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "broker/base/process.h"
#include "broker/base/random.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/guard/guarded_process.h"
#include "worker-agent/guard/process_tree.h"

extern char** environ;

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr absl::Duration kPatience = absl::Seconds(30);

// Looks until `holds`, or patience ends.
bool Await(const std::function<bool()>& holds) {
  const SystemClock clock;
  const absl::Duration give_up = clock.Steady() + kPatience;
  while (!holds()) {
    if (clock.Steady() > give_up) return false;
    poll(nullptr, 0, 10);
  }
  return true;
}

std::map<std::string, std::string> OwnEnvironment() {
  std::map<std::string, std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    all[text.substr(0, text.find('='))] = text.substr(text.find('=') + 1);
  }
  return all;
}

class GuardTest : public ::testing::Test {
 protected:
  // The words of a shell, which writes pids of what it starts by `name`.
  GuardedCommand Shell(const std::string& script) {
    GuardedCommand command;
    command.id = NewUuid(random_);
    command.agent_path = "/proc/self/exe";
    command.argv = {"/bin/sh", "-c", script};
    command.directory = folder_.path();
    command.environment = OwnEnvironment();
    command.grace = absl::Milliseconds(300);
    return command;
  }

  GuardedProcess Start(const GuardedCommand& command) {
    auto started = GuardedProcess::Start(command);
    EXPECT_THAT(started, IsOk());
    return *std::move(started);
  }

  // A shell with children of every kind, each of which writes its pid to a file
  // of its own name and then sleeps.
  std::string Family() const {
    return "sh -c 'echo $$ > plain; exec sleep 1000' & "
           "setsid sh -c 'echo $$ > session; exec sleep 1000' & "
           "(setsid sh -c '(sh -c \"echo \\$\\$ > daemon; exec sleep 1000\" "
           "</dev/null >/dev/null 2>&1 &)' &) ; "
           "sh -c 'trap \"\" TERM HUP INT; echo $$ > deaf; "
           "while :; do sleep 1000; done' & ";
  }
  std::vector<std::string> FamilyNames() const {
    return {"plain", "session", "daemon", "deaf"};
  }

  // The process that wrote its pid to the file `name`.
  ProcessId Named(const std::string& name) {
    ProcessId process;
    EXPECT_TRUE(Await([&] {
      std::ifstream file(folder_ / name);
      std::string line;
      if (!std::getline(file, line) || line.empty() || file.eof()) return false;
      process.pid = std::atoll(line.c_str());
      process.start_ticks = StartTicksOf(process.pid);
      return true;
    })) << name;
    EXPECT_NE(process.start_ticks, 0) << name;
    return process;
  }
  std::vector<ProcessId> FamilyOf() {
    std::vector<ProcessId> family;
    for (const std::string& name : FamilyNames()) {
      family.push_back(Named(name));
    }
    return family;
  }
  static bool Runs(const ProcessId& process) {
    return StartTicksOf(process.pid) == process.start_ticks;
  }
  static bool AllEnd(const std::vector<ProcessId>& processes) {
    return Await([&] {
      for (const ProcessId& process : processes) {
        if (Runs(process)) return false;
      }
      return true;
    });
  }

  static bool AwaitEnd(GuardedProcess& process) {
    return Await([&] { return process.ReadGuard(); });
  }
  // What is in the pipe when everything has ended.
  static std::string All(int fd) {
    std::string text;
    char bytes[4096];
    ssize_t count = 0;
    while ((count = read(fd, bytes, sizeof(bytes))) > 0) {
      text.append(bytes, static_cast<size_t>(count));
    }
    return text;
  }

  TempDir folder_;
  SystemRandom random_;
};

TEST_F(GuardTest, PassesAnExitCodeThrough) {
  GuardedProcess process = Start(Shell("echo out; echo err >&2; exit 7"));
  ASSERT_TRUE(AwaitEnd(process));
  ASSERT_TRUE(process.status().has_value());
  EXPECT_TRUE(WIFEXITED(*process.status()));
  EXPECT_EQ(WEXITSTATUS(*process.status()), 7);
  EXPECT_EQ(All(process.out()), "out\n");
  EXPECT_EQ(All(process.err()), "err\n");
}

TEST_F(GuardTest, PassesASignalThrough) {
  GuardedProcess process = Start(Shell("kill -KILL $$"));
  ASSERT_TRUE(AwaitEnd(process));
  ASSERT_TRUE(process.status().has_value());
  EXPECT_TRUE(WIFSIGNALED(*process.status()));
  EXPECT_EQ(WTERMSIG(*process.status()), SIGKILL);
}

TEST_F(GuardTest, GivesArgumentsDirectoryAndVariablesAsTheyAre) {
  GuardedCommand command = Shell("");
  command.argv = {"/bin/sh", "-c",    "pwd; printf '%s|' \"$@\" \"$OWN\"",
                  "sh",      "a b",   "",
                  "--",      "$(id)", "[1,2]",
                  "--guard"};
  command.environment = {{"OWN", "a=b c"}, {"PATH", "/usr/bin:/bin"}};
  GuardedProcess process = Start(command);
  ASSERT_TRUE(AwaitEnd(process));
  EXPECT_EQ(All(process.out()),
            folder_.path().string() + "\na b||--|$(id)|[1,2]|--guard|a=b c|");
}

TEST_F(GuardTest, RefusesWhatCannotBeRun) {
  GuardedCommand command = Shell("");
  command.argv = {folder_ / "missing"};
  EXPECT_THAT(GuardedProcess::Start(command),
              FailsWith(absl::StatusCode::kNotFound, "START_FAILED"));
  command = Shell("true");
  command.directory = folder_ / "missing";
  EXPECT_THAT(GuardedProcess::Start(command),
              FailsWith(absl::StatusCode::kNotFound, "START_FAILED"));
  std::ofstream(folder_ / "text") << "no program";
  command = Shell("");
  command.argv = {folder_ / "text"};
  EXPECT_THAT(GuardedProcess::Start(command),
              FailsWith(absl::StatusCode::kPermissionDenied, "START_FAILED"));
}

TEST_F(GuardTest, InputIsClosedUnlessAskedFor) {
  GuardedProcess closed = Start(Shell("cat; echo end"));
  ASSERT_TRUE(AwaitEnd(closed));
  EXPECT_EQ(All(closed.out()), "end\n");

  GuardedCommand command = Shell("cat; echo end");
  command.has_input = true;
  GuardedProcess open = Start(command);
  ASSERT_EQ(write(open.in(), "hello\n", 6), 6);
  EXPECT_FALSE(open.ReadGuard());
  open.CloseIn();
  ASSERT_TRUE(AwaitEnd(open));
  EXPECT_EQ(All(open.out()), "hello\nend\n");
}

TEST_F(GuardTest, NoDescriptorReachesTheProgram) {
  // One without close-on-exec, as a careless library opens them.
  const int leaky = dup(STDIN_FILENO);
  GuardedProcess process = Start(Shell("ls /proc/self/fd"));
  close(leaky);
  ASSERT_TRUE(AwaitEnd(process));
  std::istringstream words(All(process.out()));
  // The last is the listing's own.
  EXPECT_THAT(
      (std::vector<std::string>(std::istream_iterator<std::string>(words), {})),
      ElementsAre("0", "1", "2", "3"));
}

TEST_F(GuardTest, SignalsAreAsAtAProgramsStart) {
  GuardedProcess process =
      Start(Shell("grep -E 'Sig(Blk|Ign)' /proc/self/status"));
  ASSERT_TRUE(AwaitEnd(process));
  std::istringstream words(All(process.out()));
  std::string name, mask;
  int lines = 0;
  for (; words >> name >> mask; ++lines) {
    // Those above 31 are the C library's own.
    EXPECT_EQ(std::stoull(mask, nullptr, 16) & 0x7fffffff, 0U) << name;
  }
  EXPECT_EQ(lines, 2);
}

TEST_F(GuardTest, EndingTakesAllThatItStarted) {
  GuardedProcess process =
      Start(Shell(Family() + "trap '' TERM; echo $$ > self; wait; sleep 1000"));
  std::vector<ProcessId> family = FamilyOf();
  family.push_back(Named("self"));
  process.End();
  EXPECT_TRUE(AwaitEnd(process));
  for (const ProcessId& member : family) EXPECT_FALSE(Runs(member));
  ASSERT_TRUE(process.status().has_value());
  EXPECT_EQ(WTERMSIG(*process.status()), SIGKILL);
}

TEST_F(GuardTest, AProgramThatHeedsTermEndsItsOwnWay) {
  GuardedCommand command = Shell(
      "trap 'echo bye; exit 3' TERM; echo $$ > self; while :; do sleep 0.05; "
      "done");
  command.grace = absl::Minutes(10);
  GuardedProcess process = Start(command);
  Named("self");
  process.End();
  ASSERT_TRUE(AwaitEnd(process));
  ASSERT_TRUE(process.status().has_value());
  EXPECT_EQ(WEXITSTATUS(*process.status()), 3);
  EXPECT_THAT(All(process.out()), HasSubstr("bye"));
}

TEST_F(GuardTest, NothingIsLeftAfterANormalEnd) {
  GuardedProcess process =
      Start(Shell(Family() +
                  "while [ ! -s plain ] || [ ! -s session ] || [ ! -s daemon ] "
                  "|| [ ! -s deaf ]; do sleep 0.02; done; "
                  "while [ ! -e seen ]; do sleep 0.02; done; exit 5"));
  const std::vector<ProcessId> family = FamilyOf();
  std::ofstream(folder_ / "seen") << "";
  ASSERT_TRUE(AwaitEnd(process));
  for (const ProcessId& member : family) EXPECT_FALSE(Runs(member));
  ASSERT_TRUE(process.status().has_value());
  EXPECT_EQ(WEXITSTATUS(*process.status()), 5);
}

TEST_F(GuardTest, TheProgramsEndIsToldBeforeWhatItLeftHasEnded) {
  GuardedCommand command = Shell(
      "sh -c 'trap \"\" TERM; echo $$ > deaf; exec sleep 1000' & "
      "while [ ! -s deaf ]; do sleep 0.02; done");
  command.grace = absl::Minutes(10);
  std::optional<GuardedProcess> process = Start(command);
  const ProcessId deaf = Named("deaf");
  ASSERT_TRUE(Await([&] {
    process->ReadGuard();
    return process->status().has_value();
  }));
  EXPECT_TRUE(Runs(deaf));
  // Its grace is not awaited by a test.
  SendSignal(deaf, SIGKILL);
  EXPECT_TRUE(AwaitEnd(*process));
}

TEST_F(GuardTest, KillingTheGuardKillsTheProgramAndTheAgentEndsTheRest) {
  GuardedProcess process =
      Start(Shell(Family() + "echo $$ > self; trap '' TERM; wait; sleep 1000"));
  std::vector<ProcessId> family = FamilyOf();
  const ProcessId self = Named("self");
  kill(process.guard_pid(), SIGKILL);
  EXPECT_TRUE(AllEnd({self}));
  EXPECT_TRUE(AwaitEnd(process));
  for (const ProcessId& member : family) EXPECT_FALSE(Runs(member));
  EXPECT_FALSE(process.status().has_value());
}

TEST_F(GuardTest, KillingTheAgentEndsAllThatItStarted) {
  // An agent, as far as a guard can tell: it starts one and waits for ever.
  const GuardedCommand command =
      Shell(Family() + "trap '' TERM; echo $$ > self; wait; sleep 1000");
  const pid_t agent = fork();
  ASSERT_GE(agent, 0);
  if (agent == 0) {
    const auto process = GuardedProcess::Start(command);
    while (process.ok()) pause();
    _exit(1);
  }
  std::vector<ProcessId> family = FamilyOf();
  family.push_back(Named("self"));
  kill(agent, SIGKILL);
  waitpid(agent, nullptr, 0);
  EXPECT_TRUE(AllEnd(family));
}

TEST_F(GuardTest, WhatIsToOutliveItStaysWithAllThatIsBelowIt) {
  GuardedProcess process = Start(Shell(
      "PI_INTERCOM_OUTLIVES=1 setsid sh -c 'env -u PI_INTERCOM_OUTLIVES sh -c "
      "\"echo \\$\\$ > below; exec sleep 1000\" & echo $$ > kept; wait' & "
      "while [ ! -s kept ] || [ ! -s below ]; do sleep 0.02; done; "
      "while [ ! -e seen ]; do sleep 0.02; done"));
  const ProcessId kept = Named("kept"), below = Named("below");
  std::ofstream(folder_ / "seen") << "";
  EXPECT_TRUE(AwaitEnd(process));
  EXPECT_TRUE(Runs(kept));
  EXPECT_TRUE(Runs(below));
  SendSignal(kept, SIGKILL);
  SendSignal(below, SIGKILL);
}

TEST_F(GuardTest, TheProgramItselfIsNotTakenForOneThatOutlivesIt) {
  GuardedCommand command =
      Shell("echo $$ > self; sh -c 'echo $$ > below; exec sleep 1000'; :");
  command.environment[kOutlivesVariable] = "1";
  GuardedProcess process = Start(command);
  const ProcessId self = Named("self"), below = Named("below");
  process.End();
  EXPECT_TRUE(AwaitEnd(process));
  EXPECT_FALSE(Runs(self));
  EXPECT_FALSE(Runs(below));
}

TEST_F(GuardTest, AGuardBelowAGuardEndsWithIt) {
  // The inner one's channel is a fifo that nobody else opens for writing.
  GuardedProcess process = Start(Shell(
      std::string("mkfifo channel; exec 5<>channel; '") +
      std::filesystem::read_symlink("/proc/self/exe").string() +
      "' --guard 5 -- /bin/sh -c 'trap \"\" TERM; echo $$ > inner; "
      "setsid sh -c \"echo \\$\\$ > deep; exec sleep 1000\" & wait; sleep "
      "1000'"));
  const ProcessId inner = Named("inner"), deep = Named("deep");
  process.End();
  EXPECT_TRUE(AwaitEnd(process));
  EXPECT_FALSE(Runs(inner));
  EXPECT_FALSE(Runs(deep));
}

}  // namespace
}  // namespace intercom
