#include "broker/storage/state_runner.h"

#include <future>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/fake_clock.h"
#include "tests/support/status_matchers.h"
#include "tests/unit/storage/storage_fixtures.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// A runner over a database in memory, whose batches a test makes by hand:
// what is posted between Hold and Release is one batch.
class StateRunnerTest : public ::testing::Test {
 protected:
  StateRunnerTest() {
    StateRunner::Options options;
    options.on_commit_failed = [this](const absl::Status&) {
      log_.push_back("reload");
    };
    auto db = Database::OpenInMemory().value();
    EXPECT_THAT(db->Execute("CREATE TABLE t (word TEXT NOT NULL) STRICT; "
                            "CREATE TABLE parent (id INTEGER PRIMARY KEY); "
                            "CREATE TABLE child (id INTEGER NOT NULL "
                            "  REFERENCES parent (id) "
                            "  DEFERRABLE INITIALLY DEFERRED)"),
                IsOk());
    runner_ =
        StateRunner::Create(std::move(db), clock_, std::move(options)).value();
  }

  void Hold() {
    std::promise<void> held;
    release_ = std::promise<void>();
    runner_->PostTask([&held, this] {
      held.set_value();
      release_.get_future().wait();
    });
    held.get_future().wait();
  }
  void Release() {
    release_.set_value();
    runner_->Drain();
  }

  absl::Status Insert(std::string_view word) {
    auto insert = runner_->database().Prepare("INSERT INTO t VALUES (?)");
    insert->Bind(word);
    return insert->Run();
  }

  // A command that stores its name and then returns `result`.
  Command Store(const std::string& name,
                absl::Status result = absl::OkStatus()) {
    return {.run =
                [=, this](Effects& effects) {
                  effects.AfterCommit([=, this] { log_.push_back(name); });
                  effects.AfterSync(
                      [=, this] { log_.push_back(name + " synced"); });
                  EXPECT_THAT(Insert(name), IsOk());
                  return result;
                },
            .failed =
                [=, this](const absl::Status& status) {
                  log_.push_back(name + " failed: " + MessageOf(status));
                }};
  }
  Task Note(const std::string& name) {
    return [=, this] { log_.push_back(name); };
  }

  std::vector<std::string> Stored() {
    std::promise<std::vector<std::string>> words;
    runner_->PostTask([&] {
      std::vector<std::string> read;
      auto select =
          runner_->database().Prepare("SELECT word FROM t ORDER BY rowid");
      while (select->Step().value()) read.push_back(select->String(0));
      words.set_value(read);
    });
    return words.get_future().get();
  }

  FakeClock clock_;
  std::vector<std::string> log_;
  std::promise<void> release_;
  std::unique_ptr<StateRunner> runner_;
};

TEST_F(StateRunnerTest, AFailedCommandIsUndoneAloneAndAnsweredInItsPlace) {
  Hold();
  runner_->PostCommand(Store("a"));
  runner_->PostTask(Note("task"));
  runner_->PostCommand(Store("b", absl::AbortedError("no")));
  runner_->PostCommand(Store("c"));
  Release();

  EXPECT_THAT(log_, ElementsAre("a", "task", "b failed: no", "c", "a synced",
                                "c synced"));
  EXPECT_THAT(Stored(), ElementsAre("a", "c"));
}

TEST_F(StateRunnerTest, CommandsRunBeforeAnyEffectOfTheirBatch) {
  Hold();
  runner_->PostCommand(Store("a"));
  runner_->PostCommand({.run =
                            [this](Effects&) {
                              EXPECT_THAT(log_, IsEmpty());
                              return absl::OkStatus();
                            },
                        .failed = nullptr});
  Release();
}

TEST_F(StateRunnerTest, WhatAnEffectPostsRunsInALaterBatch) {
  Hold();
  runner_->PostCommand({.run =
                            [this](Effects& effects) {
                              effects.AfterCommit([this] {
                                runner_->PostTask(Note("posted"));
                                log_.push_back("effect");
                              });
                              return absl::OkStatus();
                            },
                        .failed = nullptr});
  runner_->PostTask(Note("task"));
  Release();
  EXPECT_THAT(log_, ElementsAre("effect", "task", "posted"));
}

TEST_F(StateRunnerTest, ABatchIsBounded) {
  int ran = 0;
  int ran_at_first_effect = 0;
  Hold();
  for (int i = 0; i < 300; ++i) {
    runner_->PostCommand({.run =
                              [&](Effects& effects) {
                                ++ran;
                                effects.AfterCommit([&] {
                                  if (ran_at_first_effect == 0) {
                                    ran_at_first_effect = ran;
                                  }
                                });
                                return absl::OkStatus();
                              },
                          .failed = nullptr});
  }
  EXPECT_EQ(runner_->waiting(), 300);
  Release();
  EXPECT_EQ(ran_at_first_effect, 256);
  EXPECT_EQ(ran, 300);
  EXPECT_EQ(runner_->waiting(), 0);
}

TEST_F(StateRunnerTest, AFailedCommitAnswersAllInOrderThenReloads) {
  Hold();
  runner_->PostCommand(Store("a"));
  runner_->PostTask(Note("task"));
  // COMMIT finds the missing parent.
  runner_->PostCommand(
      {.run =
           [this](Effects&) {
             return runner_->database().Execute("INSERT INTO child VALUES (1)");
           },
       .failed = [this](const absl::Status&) { log_.push_back("failed"); }});
  Release();

  ASSERT_EQ(log_.size(), 4u);
  EXPECT_THAT(log_[0], ::testing::StartsWith("a failed"));
  EXPECT_THAT(log_, ElementsAre(log_[0], "task", "failed", "reload"));
  EXPECT_THAT(Stored(), IsEmpty());

  log_.clear();
  runner_->PostCommand(Store("b"));
  runner_->Drain();
  EXPECT_THAT(log_, ElementsAre("b", "b synced"));
}

TEST_F(StateRunnerTest, ATransactionThatSqliteGaveUpFailsTheWholeBatch) {
  Hold();
  runner_->PostCommand(Store("a"));
  runner_->PostCommand(
      {.run =
           [this](Effects&) {
             EXPECT_THAT(runner_->database().Execute("ROLLBACK"), IsOk());
             return absl::ResourceExhaustedError("full");
           },
       .failed = nullptr});
  runner_->PostCommand(Store("c"));
  Release();

  EXPECT_THAT(log_, ElementsAre("a failed: full", "c failed: full", "reload"));
  EXPECT_THAT(Stored(), IsEmpty());
}

TEST_F(StateRunnerTest, ADatabaseAtItsLimitFailsCommandsAndGoesOn) {
  runner_->PostTask([this] {
    EXPECT_THAT(runner_->database().Execute("PRAGMA max_page_count=8"), IsOk());
  });
  runner_->Drain();
  absl::Status failure;
  runner_->PostCommand(
      {.run = [this](Effects&) { return Insert(std::string(1 << 20, 'x')); },
       .failed = [&](const absl::Status& status) { failure = status; }});
  runner_->Drain();
  EXPECT_THAT(failure,
              FailsWith(absl::StatusCode::kResourceExhausted, "STORAGE_FULL"));

  runner_->PostCommand(Store("small"));
  EXPECT_THAT(Stored(), ElementsAre("small"));
}

TEST_F(StateRunnerTest, DelayedTasksRunWhenTheirTimeHasCome) {
  runner_->PostDelayedTask(Note("second"), absl::Seconds(2));
  runner_->PostDelayedTask(Note("first"), absl::Seconds(1));
  runner_->PostDelayedTask(Note("also second"), absl::Seconds(2));
  runner_->Drain();
  EXPECT_THAT(log_, IsEmpty());

  clock_.Advance(absl::Seconds(1));
  runner_->Drain();
  EXPECT_THAT(log_, ElementsAre("first"));

  clock_.Jump(-absl::Hours(1));
  clock_.Advance(absl::Seconds(1));
  runner_->Drain();
  EXPECT_THAT(log_, ElementsAre("first", "second", "also second"));
}

TEST_F(StateRunnerTest, UpkeepIsNotPutOffWithoutEndBySteadyWork) {
  int steps = 0;
  runner_->SetIdleStep([&]() -> absl::StatusOr<bool> { return ++steps < 2; });
  const auto work = [&](absl::Duration later) {
    clock_.Advance(later);
    runner_->PostTask([] {});
    runner_->Drain();
    return steps;
  };
  // Never idle for long enough.
  for (int i = 0; i < 59 * 5; ++i) work(absl::Milliseconds(200));
  EXPECT_EQ(steps, 0);
  EXPECT_EQ(work(absl::Seconds(1)), 1);
  EXPECT_EQ(work(absl::Milliseconds(999)), 1);
  EXPECT_EQ(work(absl::Milliseconds(1)), 2);
  for (int i = 0; i < 119 * 5; ++i) work(absl::Milliseconds(200));
  EXPECT_EQ(steps, 2);
}

TEST_F(StateRunnerTest, UpkeepRunsWhenIdleUntilThereIsNoMoreToDo) {
  int steps = 0;
  std::promise<void> third, fourth;
  runner_->SetIdleStep([&]() -> absl::StatusOr<bool> {
    EXPECT_TRUE(runner_->database().in_transaction());
    ++steps;
    if (steps == 3) third.set_value();
    if (steps == 4) fourth.set_value();
    return steps < 3;
  });
  runner_->PostTask([] {});
  runner_->Drain();

  clock_.Advance(absl::Seconds(1));
  runner_->WakeTimers();
  third.get_future().wait();

  runner_->PostTask([] {});
  runner_->Drain();
  clock_.Advance(absl::Minutes(1));
  runner_->WakeTimers();
  fourth.get_future().wait();
  runner_->Stop();
  EXPECT_EQ(steps, 4);
}

TEST_F(StateRunnerTest, StopRunsWhatWaitsAndNothingLater) {
  runner_->PostCommand(Store("a"));
  runner_->PostDelayedTask(Note("delayed"), absl::Seconds(1));
  runner_->Stop();
  EXPECT_THAT(log_, ElementsAre("a", "a synced"));

  clock_.Advance(absl::Seconds(1));
  runner_->PostTask(Note("late"));
  runner_->PostCommand(Store("late"));
  runner_->Drain();
  runner_->Stop();
  EXPECT_THAT(log_, ElementsAre("a", "a synced"));
}

TEST_F(StateRunnerTest, DestructionDestroysWhatWaitsWithoutRunningIt) {
  Hold();
  auto alive = std::make_shared<int>();
  runner_->PostTask([this, alive] { log_.push_back("ran"); });
  std::thread destroyer([this] { runner_.reset(); });
  // The runner takes its next batch only after the flag that ends it may be
  // set; either way the task is gone in the end.
  release_.set_value();
  destroyer.join();
  EXPECT_EQ(alive.use_count(), 1);
}

}  // namespace
}  // namespace intercom
