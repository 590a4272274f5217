#include "worker-agent/launch/launch_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::MatchesRegex;
using ::testing::SizeIs;

const LaunchOrder kOrder = {.argv = {"/bin/a b", "-c", "x;\n'\"$(y)"},
                            .directory = "/tmp/🛰 d",
                            .environment = {{"SECRET", "a=b\nc"}},
                            .unset = {"TMUX"}};

mode_t ModeOf(const std::string& path) {
  struct stat facts {};
  lstat(path.c_str(), &facts);
  return facts.st_mode & 07777;
}

class LaunchFileTest : public ::testing::Test {
 protected:
  absl::StatusOr<LaunchFile> Write(const LaunchOrder& order = kOrder) {
    return LaunchFile::Write(temp_.path(), order, random_);
  }
  size_t FilesLeft() const {
    return static_cast<size_t>(std::distance(
        fs::directory_iterator(temp_ / "launch"), fs::directory_iterator()));
  }

  TempDir temp_;
  SystemRandom random_;
};

TEST_F(LaunchFileTest, AnOrderArrivesAsItWasWrittenAndOnce) {
  auto file = Write();
  ASSERT_THAT(file, IsOk());
  const auto order = TakeLaunchFile(file->path());
  ASSERT_THAT(order, IsOk());
  EXPECT_EQ(order->argv, kOrder.argv);
  EXPECT_EQ(order->directory, kOrder.directory);
  EXPECT_EQ(order->environment, kOrder.environment);
  EXPECT_EQ(order->unset, kOrder.unset);
  EXPECT_EQ(FilesLeft(), 0u);
  EXPECT_THAT(TakeLaunchFile(file->path()),
              FailsWith(absl::StatusCode::kNotFound, "LAUNCH_USED"));
}

TEST_F(LaunchFileTest, OnlyThisUserMayReadIt) {
  const auto file = Write();
  ASSERT_THAT(file, IsOk());
  EXPECT_EQ(ModeOf(temp_ / "launch"), 0700u);
  EXPECT_EQ(ModeOf(file->path()), 0600u);
}

TEST_F(LaunchFileTest, ADirectoryThatOthersMayEnterIsRefused) {
  fs::create_directory(temp_ / "launch");
  fs::permissions(temp_ / "launch", fs::perms(0755));
  EXPECT_THAT(Write(), FailsWith(absl::StatusCode::kPermissionDenied,
                                 "LAUNCH_DIRECTORY_UNSAFE"));
  fs::remove(temp_ / "launch");
  fs::create_directory_symlink("/tmp", temp_ / "launch");
  EXPECT_THAT(Write(), FailsWith(absl::StatusCode::kPermissionDenied,
                                 "LAUNCH_DIRECTORY_UNSAFE"));
}

TEST_F(LaunchFileTest, WhatJsonCannotHoldIsRefused) {
  LaunchOrder order = kOrder;
  order.argv.push_back("\xff");
  EXPECT_THAT(Write(order),
              FailsWith(absl::StatusCode::kInvalidArgument, "NOT_UTF8"));
}

TEST_F(LaunchFileTest, AFileGoesWithItsWriterUnlessItIsKept) {
  std::string kept;
  {
    auto forgotten = Write();
    auto file = Write();
    ASSERT_THAT(file, IsOk());
    file->Keep();
    kept = file->path();
  }
  EXPECT_EQ(FilesLeft(), 1u);
  EXPECT_THAT(TakeLaunchFile(kept), IsOk());
}

TEST_F(LaunchFileTest, WithdrawingTellsWhetherTheOrderWasTaken) {
  auto first = Write(), second = Write();
  EXPECT_TRUE(first->Withdraw());
  EXPECT_THAT(TakeLaunchFile(first->path()),
              HasCode(absl::StatusCode::kNotFound));
  ASSERT_THAT(TakeLaunchFile(second->path()), IsOk());
  EXPECT_FALSE(second->Withdraw());
}

TEST_F(LaunchFileTest, OneOfManyGetsTheOrder) {
  for (int round = 0; round < 50; ++round) {
    auto file = Write();
    int taken = 0;
    bool withdrawn = false;
    std::thread taker(
        [&] { taken = TakeLaunchFile(file->path()).ok() ? 1 : 0; });
    withdrawn = file->Withdraw();
    taker.join();
    EXPECT_EQ(taken + (withdrawn ? 1 : 0), 1);
  }
}

TEST_F(LaunchFileTest, AnOrderOfAnotherFormIsRefusedAndGone) {
  fs::create_directory(temp_ / "launch");
  for (const char* text :
       {"", "{", "[]", R"({"argv":[],"directory":"/","environment":{}})",
        R"({"argv":[1],"directory":"/","environment":{}})",
        R"({"argv":["a"],"environment":{}})",
        R"({"argv":["a"],"directory":"/","environment":{"A":1}})"}) {
    const std::string path = temp_ / "launch" + "/x.json";
    std::ofstream(path) << text;
    EXPECT_THAT(
        TakeLaunchFile(path),
        FailsWith(absl::StatusCode::kFailedPrecondition, "LAUNCH_INVALID"))
        << text;
    EXPECT_EQ(FilesLeft(), 0u);
  }
}

TEST_F(LaunchFileTest, OldLaunchesArePrunedAndYoungOnesStay) {
  auto old = Write(), young = Write();
  old->Keep();
  const auto an_hour_ago =
      fs::file_time_type::clock::now() - std::chrono::minutes(61);
  fs::last_write_time(old->path(), an_hour_ago);
  PruneLaunchFiles(temp_.path(), absl::Now());
  EXPECT_FALSE(fs::exists(old->path()));
  EXPECT_TRUE(fs::exists(young->path()));
  PruneLaunchFiles(temp_ / "nowhere", absl::Now());
}

// The path of the state directory holds a space and an emoji here.
TEST_F(LaunchFileTest, AScriptCanBeTypedIntoAnyShellAndRemovesItself) {
  const SystemClock clock;
  const CommandRunner runner(clock, {{"PATH", "/usr/bin:/bin"}}, {});
  std::string agent = temp_ / "it's an agent; $(touch x)";
  std::ofstream(agent) << "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\"\n";
  fs::permissions(agent, fs::perms::owner_all);
  auto script = LaunchFile::WriteScript(temp_.path(), agent,
                                        temp_ / "launch file", random_);
  ASSERT_THAT(script, IsOk());
  EXPECT_THAT(script->path(), MatchesRegex("[a-zA-Z0-9/._-]+"));
  EXPECT_LT(("exec /bin/sh " + script->path()).size(), 200u);
  EXPECT_EQ(ModeOf(script->path()), 0700u);
  EXPECT_EQ(ModeOf(fs::path(script->path()).parent_path()), 0700u);

  const auto output = runner.Run({"/bin/sh", script->path()});
  ASSERT_THAT(output, IsOk());
  EXPECT_EQ(output->out, agent + "|--launch|" + (temp_ / "launch file") + "|");
  EXPECT_FALSE(fs::exists(fs::path(script->path()).parent_path()));
}

TEST_F(LaunchFileTest, AScriptThatIsNotUsedLeavesNothing) {
  std::string path;
  {
    auto script = LaunchFile::WriteScript(temp_.path(), "/a", "/b", random_);
    ASSERT_THAT(script, IsOk());
    path = script->path();
    EXPECT_TRUE(fs::exists(path));
  }
  EXPECT_FALSE(fs::exists(fs::path(path).parent_path()));
}

TEST_F(LaunchFileTest, AStateDirectoryOfPlainCharactersHoldsTheScriptItself) {
  std::string pattern = "/tmp/intercom-plain-XXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  {
    const auto script = LaunchFile::WriteScript(pattern, "/a", "/b", random_);
    ASSERT_THAT(script, IsOk());
    EXPECT_TRUE(script->path().starts_with(pattern + "/launch/"));
  }
  fs::remove_all(pattern);
}

}  // namespace
}  // namespace intercom
