#include <sched.h>
#include <sys/mount.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/state_runner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/temp_dir.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A runner over a file.
class StateRunnerDiskTest : public ::testing::Test {
 protected:
  void Start(StateRunner::Options options) {
    runner_ =
        StateRunner::Create(MigratedAt(path()), clock_, std::move(options))
            .value();
  }
  virtual std::string path() { return dir_ / "state.db"; }

  Command Accept(const std::string& id, Task after_commit, Task after_sync,
                 std::string text = "text") {
    return {.run =
                [this, id, text, after_commit = std::move(after_commit),
                 after_sync = std::move(after_sync)](Effects& effects) mutable {
                  effects.AfterCommit(std::move(after_commit));
                  effects.AfterSync(std::move(after_sync));
                  NewDelivery delivery = MessageTo("bob", id);
                  delivery.envelope.set_text(text);
                  return DeliveryStore(runner_->database())
                      .Insert(delivery)
                      .status();
                },
            .failed =
                [this](const absl::Status& status) {
                  failures_.push_back(status);
                }};
  }
  static Task Nothing() {
    return [] {};
  }

  int64_t Stored() {
    const auto db = Database::OpenReadOnly(path()).value();
    return MailboxStore(*db).Find("bob").value().envelopes;
  }

  TempDir dir_;
  FakeClock clock_;
  std::vector<absl::Status> failures_;
  std::unique_ptr<StateRunner> runner_;
};

TEST_F(StateRunnerDiskTest, WhatIsSyncedIsInTheLogOfTheFile) {
  Start({});
  std::promise<void> synced;
  runner_->PostCommand(Accept("e1", Nothing(), [&] { synced.set_value(); }));
  synced.get_future().wait();
  EXPECT_EQ(Stored(), 1);
}

TEST_F(StateRunnerDiskTest, CommitsGoOnWhileTheDiskSyncsAndShareTheNextSync) {
  std::promise<void> sync_begun, disk;
  std::atomic<int> syncs = 0;
  StateRunner::Options options;
  options.sync = [&] {
    if (++syncs == 1) {
      sync_begun.set_value();
      disk.get_future().wait();
    }
    return absl::OkStatus();
  };
  Start(std::move(options));
  std::vector<std::string> synced;  // of the sync thread until Drain
  std::promise<void> both_committed;

  runner_->PostCommand(
      Accept("e1", Nothing(), [&] { synced.push_back("e1"); }));
  sync_begun.get_future().wait();
  runner_->PostCommand(
      Accept("e2", Nothing(), [&] { synced.push_back("e2"); }));
  runner_->PostCommand(
      Accept("e3", Nothing(), [&] { synced.push_back("e3"); }));
  runner_->PostTask([&] { both_committed.set_value(); });
  both_committed.get_future().wait();

  EXPECT_EQ(Stored(), 3);
  EXPECT_THAT(synced, IsEmpty());
  disk.set_value();
  runner_->Drain();
  EXPECT_THAT(synced, ElementsAre("e1", "e2", "e3"));
  EXPECT_LE(syncs, 3);
}

TEST_F(StateRunnerDiskTest, ABatchThatPromisesNothingIsNotSynced) {
  int syncs = 0;
  StateRunner::Options options;
  options.sync = [&] {
    ++syncs;
    return absl::OkStatus();
  };
  Start(std::move(options));
  runner_->PostCommand(
      {.run = [](Effects&) { return absl::OkStatus(); }, .failed = nullptr});
  runner_->Drain();
  EXPECT_EQ(syncs, 0);
}

TEST_F(StateRunnerDiskTest, AFailedSyncIsReportedOnceAndNothingIsAcknowledged) {
  std::promise<absl::Status> failed;
  int syncs = 0;
  StateRunner::Options options;
  options.sync = [&] {
    ++syncs;
    return absl::UnavailableError("the disk is gone");
  };
  options.on_sync_failed = [&](const absl::Status& status) {
    failed.set_value(status);
  };
  Start(std::move(options));
  bool acknowledged = false;
  const auto acknowledge = [&] { acknowledged = true; };

  runner_->PostCommand(Accept("e1", Nothing(), acknowledge));
  EXPECT_THAT(failed.get_future().get(),
              HasCode(absl::StatusCode::kUnavailable));
  runner_->PostCommand(Accept("e2", Nothing(), acknowledge));
  runner_->Stop();

  EXPECT_FALSE(acknowledged);
  EXPECT_EQ(syncs, 1);
}

using StateRunnerDiskDeathTest = StateRunnerDiskTest;

TEST_F(StateRunnerDiskDeathTest, AFailedSyncEndsTheProcessByDefault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        StateRunner::Options options;
        options.sync = [] { return absl::UnavailableError("gone"); };
        Start(std::move(options));
        runner_->PostCommand(Accept("e1", Nothing(), Nothing()));
        std::promise<void>().get_future().wait();
      },
      "");
}

TEST_F(StateRunnerDiskTest, ALongLogIsCopiedWhenIdle) {
  Start({});
  for (int i = 0; i < 40; ++i) {
    runner_->PostCommand(Accept(absl::StrCat("e", i), Nothing(), Nothing(),
                                std::string(200'000, 'x')));
  }
  runner_->Drain();
  EXPECT_LT(std::filesystem::file_size(path()), 1 << 20);
  std::promise<void> idle;
  runner_->PostTask([&] {
    runner_->SetIdleStep([&]() -> absl::StatusOr<bool> {
      idle.set_value();
      return false;
    });
  });
  runner_->Drain();

  clock_.Advance(absl::Seconds(1));
  runner_->WakeTimers();
  idle.get_future().wait();
  runner_->Drain();

  EXPECT_GT(std::filesystem::file_size(path()), 4 << 20);
  // The log starts over.
  const auto log = std::filesystem::file_size(path() + "-wal");
  runner_->PostCommand(Accept("last", Nothing(), Nothing()));
  runner_->Drain();
  EXPECT_EQ(std::filesystem::file_size(path() + "-wal"), log);
  EXPECT_EQ(Stored(), 41);
}

// The same over a file system of 1 MiB of its own, which ends with the thread's
// mount namespace.
class FullDiskTest : public StateRunnerDiskTest {
 protected:
  void SetUp() override {
    const std::string folder = dir_.path();
    if (unshare(CLONE_NEWNS) != 0 ||
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m") != 0) {
      GTEST_SKIP() << "mounting takes root";
    }
    mounted_ = true;
  }
  void TearDown() override {
    runner_.reset();
    if (mounted_) umount2(dir_.path().c_str(), MNT_DETACH);
  }

 private:
  bool mounted_ = false;
};

TEST_F(FullDiskTest, AFullDiskAnswersEveryCommandAndAcceptsAgainWithRoom) {
  int reloads = 0;
  StateRunner::Options options;
  options.on_commit_failed = [&](const absl::Status&) { ++reloads; };
  Start(std::move(options));
  runner_->PostCommand(Accept("before", Nothing(), Nothing()));
  runner_->Drain();
  const std::string filler = dir_ / "filler";
  std::ofstream(filler) << std::string(2 << 20, 'x');

  int effects = 0;
  std::promise<void> held, release;
  runner_->PostTask([&] {
    held.set_value();
    release.get_future().wait();
  });
  held.get_future().wait();
  for (int i = 0; i < 3; ++i) {
    const auto effect = [&] { ++effects; };
    runner_->PostCommand(Accept(absl::StrCat("full", i), effect, effect,
                                std::string(100'000, 'x')));
  }
  release.set_value();
  runner_->Drain();

  EXPECT_THAT(failures_, SizeIs(3));
  EXPECT_THAT(failures_, Each(FailsWith(absl::StatusCode::kResourceExhausted,
                                        "STORAGE_FULL")));
  EXPECT_EQ(effects, 0);
  EXPECT_EQ(reloads, 1);
  EXPECT_EQ(Stored(), 1);

  std::filesystem::remove(filler);
  runner_->PostCommand(Accept("after", Nothing(), Nothing()));
  runner_->Drain();
  EXPECT_THAT(failures_, SizeIs(3));
  EXPECT_EQ(Stored(), 2);
}

}  // namespace
}  // namespace intercom
