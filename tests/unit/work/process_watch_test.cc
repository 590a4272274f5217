#include "broker/work/process_watch.h"

#include <unistd.h>

#include "gtest/gtest.h"
#include "tests/support/fake_processes.h"
#include "tests/support/roster_rig.h"

namespace intercom {
namespace {

class ProcessWatchTest : public RosterRig {
 protected:
  ProcessWatchTest() { processes_.Start(42, 420); }
  ~ProcessWatchTest() override { runner_->Stop(); }

  Answer<bool> Await(int64_t pid, int64_t ticks) {
    Answer<bool> answer;
    runner_->PostTask([=, this, put = answer.Callback()] {
      watch_.AwaitEnd(pid, ticks, absl::Seconds(1), put);
    });
    Sync();
    return answer;
  }

  FakeProcesses processes_;
  ProcessWatch watch_{*runner_, clock_, processes_.TicksOf()};
};

TEST_F(ProcessWatchTest, AProcessIsItsIdAndItsStart) {
  EXPECT_TRUE(watch_.IsAlive(42, 420));
  EXPECT_FALSE(watch_.IsAlive(42, 421));
  EXPECT_FALSE(watch_.IsAlive(43, 420));
  // What is not known proves no life.
  EXPECT_FALSE(watch_.IsAlive(42, 0));
  EXPECT_FALSE(watch_.IsAlive(0, 0));
}

TEST_F(ProcessWatchTest, SeesTheEndAtItsNextLook) {
  const Answer<bool> answer = Await(42, 420);
  Advance(ProcessWatch::kEvery);
  EXPECT_EQ(answer.count(), 0);
  processes_.End(42);
  Advance(ProcessWatch::kEvery);
  EXPECT_TRUE(answer.Wait());
}

TEST_F(ProcessWatchTest, GivesUpAfterItsPatience) {
  const Answer<bool> answer = Await(42, 420);
  Advance(absl::Seconds(1));
  EXPECT_FALSE(answer.Wait());
  Advance(absl::Seconds(1));
  EXPECT_EQ(answer.count(), 1);
}

TEST_F(ProcessWatchTest, WhatHasEndedBeforeIsSeenAtOnce) {
  EXPECT_TRUE(Await(43, 430).Wait());
}

TEST_F(ProcessWatchTest, KnowsTheProcessesOfThisMachine) {
  const ProcessWatch watch(*runner_, clock_);
  const int64_t ticks = StartTicksOf(getpid());
  EXPECT_TRUE(watch.IsAlive(getpid(), ticks));
  EXPECT_FALSE(watch.IsAlive(getpid(), ticks + 1));
}

}  // namespace
}  // namespace intercom
