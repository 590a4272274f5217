#include "worker-agent/launch/command_runner.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "broker/base/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class CommandRunnerTest : public ::testing::Test {
 protected:
  CommandRunner Make(CommandRunner::Limits limits = {}) const {
    return CommandRunner(clock_, {{"PATH", "/usr/bin:/bin"}, {"ONLY", "this"}},
                         limits);
  }

  TempDir temp_;
  SystemClock clock_;
};

TEST_F(CommandRunnerTest, TellsOutputErrorsAndExitCodeApart) {
  const auto output =
      Make().Run({"sh", "-c", "echo out; echo err >&2; exit 3"});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->out, "out\n");
  EXPECT_EQ(output->err, "err\n");
  EXPECT_EQ(output->exit_code, 3);
}

TEST_F(CommandRunnerTest, WordsReachTheProgramAsTheyAre) {
  const std::string word = "a b;\n'\"$(touch x)#{y}\\";
  const auto output = Make().Run({"printf", "%s|", word, "", "--"});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->out, word + "||--|");
}

TEST_F(CommandRunnerTest, AProgramInheritsNothingOfThisProcess) {
  const int open_here = open("/dev/null", O_RDONLY);  // No close-on-exec.
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);

  const auto output =
      Make().Run({"sh", "-c",
                  "ls -l /proc/$$/fd | grep -c /; readlink /proc/$$/fd/0; "
                  "grep SigBlk /proc/self/status; echo $ONLY; cat"});

  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  close(open_here);
  ASSERT_THAT(output, IsOk());
  EXPECT_THAT(output->out, HasSubstr("/dev/null\n"));
  EXPECT_THAT(output->out, HasSubstr("SigBlk:\t0000000000000000"));
  EXPECT_THAT(output->out, HasSubstr("\nthis\n"));
  // The only descriptor with a path is standard input.
  EXPECT_EQ(output->out.substr(0, 2), "1\n") << output->out;
}

TEST_F(CommandRunnerTest, AMissingProgramIsToldApartAndRunsNothing) {
  EXPECT_THAT(Make().Run({"no-such-program-here"}),
              FailsWith(absl::StatusCode::kNotFound, "COMMAND_NOT_FOUND"));
  EXPECT_THAT(Make().Run({temp_ / "none"}),
              FailsWith(absl::StatusCode::kNotFound, "COMMAND_NOT_FOUND"));
  EXPECT_THAT(Make().Run({}),
              FailsWith(absl::StatusCode::kNotFound, "COMMAND_NOT_FOUND"));
}

TEST_F(CommandRunnerTest, AProgramIsNeverFoundInARelativeFolder) {
  std::ofstream(temp_ / "tool") << "#!/bin/sh\n";
  std::filesystem::permissions(temp_ / "tool",
                               std::filesystem::perms::owner_all);
  EXPECT_EQ(*FindProgram("tool", {{"PATH", ":.:" + temp_.path().string()}}),
            temp_ / "tool");
  EXPECT_THAT(FindProgram("tool", {{"PATH", ":."}}),
              HasCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(FindProgram("sub/tool", {{"PATH", "/bin"}}),
              HasCode(absl::StatusCode::kNotFound));
  EXPECT_THAT(FindProgram("tool", {}), HasCode(absl::StatusCode::kNotFound));
}

TEST_F(CommandRunnerTest, AProgramThatHangsIsKilledWithItsChildren) {
  const std::string pids = temp_ / "pids";
  const auto output =
      Make({.time = absl::Milliseconds(500)})
          .Run({"sh", "-c",
                "sleep 1000 & echo $! >\"$0\"; echo $$ >>\"$0\"; wait", pids});
  EXPECT_THAT(output, FailsWith(absl::StatusCode::kDeadlineExceeded,
                                "COMMAND_TIMED_OUT"));
  std::ifstream file(pids);
  int64_t child = 0, shell = 0;
  file >> child >> shell;
  ASSERT_NE(child, 0);
  EXPECT_EQ(StartTicksOf(shell), 0);
  // A killed orphan is gone once init has seen it.
  while (StartTicksOf(child) != 0) sched_yield();
}

TEST_F(CommandRunnerTest, TheAllowanceIsForAllCommandsTogether) {
  const CommandRunner runner = Make({.time = absl::Milliseconds(200)});
  EXPECT_THAT(runner.Run({"sleep", "1000"}),
              HasCode(absl::StatusCode::kDeadlineExceeded));
  EXPECT_LT(runner.TimeLeft(), absl::Milliseconds(1));
  EXPECT_THAT(runner.Run({"sleep", "1000"}),
              HasCode(absl::StatusCode::kDeadlineExceeded));
}

TEST_F(CommandRunnerTest, AProgramThatWritesWithoutEndIsKilled) {
  EXPECT_THAT(Make().Run({"yes"}),
              FailsWith(absl::StatusCode::kResourceExhausted,
                        "COMMAND_OUTPUT_TOO_LARGE"));
  EXPECT_THAT(Make().Run({"sh", "-c", "yes >&2"}),
              FailsWith(absl::StatusCode::kResourceExhausted,
                        "COMMAND_OUTPUT_TOO_LARGE"));
  EXPECT_THAT(Make({.output_bytes = 10}).Run({"printf", "%s", "0123456789x"}),
              HasCode(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(Make({.output_bytes = 10}).Run({"printf", "%s", "0123456789"}),
              IsOk());
}

TEST_F(CommandRunnerTest, WhatAProgramLeavesInTheBackgroundIsNotWaitedFor) {
  // The background program holds the output open.
  const auto output = Make().Run({"sh", "-c", "setsid sleep 1000 & echo $!"});
  ASSERT_THAT(output, IsOk());
  const pid_t left = std::stoi(output->out);
  EXPECT_NE(StartTicksOf(left), 0);
  kill(left, SIGKILL);
}

TEST_F(CommandRunnerTest, AProgramThatASignalEndsHasItsNumber) {
  const auto output = Make().Run({"sh", "-c", "kill -9 $$"});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->exit_code, 128 + SIGKILL);
  EXPECT_THAT(output->out, IsEmpty());
}

}  // namespace
}  // namespace intercom
