#include "broker/roster/workspace_gate.h"

#include <filesystem>
#include <string>
#include <thread>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/roster_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;

class WorkspaceGateTest : public RosterRig {
 protected:
  using Used = absl::StatusOr<std::shared_ptr<const Workspace>>;

  // The workspace with which a call ran, or how it failed.
  Used Use(bool last_good, absl::Status result = absl::OkStatus()) {
    Answer<Used> used;
    runner_->PostTask([&, put = used.Callback()] {
      auto use = [put, result](
                     const std::shared_ptr<const Workspace>& workspace,
                     Effects& effects) {
        effects.AfterCommit([put, workspace] { put(workspace); });
        return result;
      };
      auto failed = [put](const absl::Status& status) { put(status); };
      if (last_good) {
        gate_.WithLastGood(root_, use, failed);
      } else {
        gate_.WithPresent(root_, use, failed);
      }
    });
    Used answer = used.Wait();
    Sync();
    return answer;
  }
  std::shared_ptr<const Workspace> Mirrored() {
    return OnState([&] { return mirror_.Find(root_); });
  }
  const std::string good_ =
      ConfigText({{"c-1", "Coordinator"}, {"w-1", "Reviewer"}});
};

TEST_F(WorkspaceGateTest, EachCallIsDecidedOnTheFileAsItIsNow) {
  WriteConfig(root_, good_);
  EXPECT_EQ((*Use(false))->agents.size(), 2u);
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  const Used second = Use(false);
  EXPECT_EQ((*second)->agents.size(), 1u);
  EXPECT_EQ((*second)->generation, 2);
}

// B finds the mirror old, and C finds it new, because A's effect comes between.
TEST_F(WorkspaceGateTest, CallsStayInOrderWhenTheConfigChanges) {
  WriteConfig(root_, good_);
  ASSERT_THAT(Use(false), IsOk());
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  std::string order;
  const auto call = [&](char name) {
    gate_.WithPresent(
        root_,
        [&order, name](const std::shared_ptr<const Workspace>&, Effects&) {
          order += name;
          return absl::OkStatus();
        },
        [](const absl::Status& status) { EXPECT_THAT(status, IsOk()); });
  };
  const auto await_queued = [&](int64_t items) {
    while (runner_->waiting() < items) std::this_thread::yield();
  };
  // The queue becomes: B's answer, A's mirror command, C's answer.
  runner_->PostTask([&] {
    runner_->PostTask([&] {
      call('B');
      await_queued(1);
    });
    call('A');
    await_queued(2);
    runner_->PostTask([&] {
      call('C');
      await_queued(3);
    });
  });
  Sync();
  while (OnState([&] { return order.size(); }) < 3) Sync();
  // A was asked for after B here: what counts is that C comes after B.
  EXPECT_LT(order.find('B'), order.find('C')) << order;
}

TEST_F(WorkspaceGateTest, AnUnchangedFileKeepsItsGeneration) {
  WriteConfig(root_, good_);
  const auto first = *Use(false);
  EXPECT_EQ(*Use(false), first);
  EXPECT_EQ(first->generation, 1);
}

TEST_F(WorkspaceGateTest, AnInvalidFileFailsTheCallAndMarksTheMirrorStale) {
  WriteConfig(root_, good_);
  EXPECT_THAT(Use(false), IsOk());
  WriteConfig(root_, "{");
  EXPECT_THAT(Use(false), FailsWith(absl::StatusCode::kFailedPrecondition,
                                    "CONFIG_INVALID"));
  EXPECT_THAT(Mirrored()->config_error, HasSubstr(ConfigPath(root_)));
  EXPECT_EQ(Mirrored()->agents.size(), 2u);
}

TEST_F(WorkspaceGateTest, ReadsAreServedTheLastGoodMirrorMarkedStale) {
  WriteConfig(root_, good_);
  EXPECT_THAT(Use(true), IsOk());
  WriteConfig(root_, "{");
  const Used stale = Use(true);
  ASSERT_THAT(stale, IsOk());
  EXPECT_EQ((*stale)->agents.size(), 2u);
  EXPECT_NE((*stale)->config_error, "");
}

TEST_F(WorkspaceGateTest, WithoutAGoodMirrorReadsFailToo) {
  WriteConfig(root_, "{");
  EXPECT_THAT(Use(true), FailsWith(absl::StatusCode::kFailedPrecondition,
                                   "CONFIG_INVALID"));
}

TEST_F(WorkspaceGateTest, TheSameFileMadeGoodAgainIsNotStale) {
  WriteConfig(root_, good_);
  EXPECT_THAT(Use(false), IsOk());
  WriteConfig(root_, "{");
  EXPECT_FALSE(Use(false).ok());
  WriteConfig(root_, good_);
  EXPECT_THAT(Use(false), IsOk());
  EXPECT_EQ(Mirrored()->config_error, "");
  EXPECT_EQ(Mirrored()->generation, 1);
}

TEST_F(WorkspaceGateTest, AStaleMirrorOutlivesTheBroker) {
  WriteConfig(root_, good_);
  EXPECT_THAT(Use(false), IsOk());
  WriteConfig(root_, "{");
  EXPECT_FALSE(Use(false).ok());
  EXPECT_THAT(OnState([&] { return mirror_.Load(); }), IsOk());
  EXPECT_EQ(Mirrored()->agents.size(), 2u);
  EXPECT_NE(Mirrored()->config_error, "");
  EXPECT_EQ(Mirrored()->multiplexer, "none");
}

TEST_F(WorkspaceGateTest, ARefusedCallKeepsTheMirrorItBrought) {
  WriteConfig(root_, good_);
  EXPECT_THAT(Use(false, absl::AbortedError("no")),
              HasCode(absl::StatusCode::kAborted));
  ASSERT_NE(Mirrored(), nullptr);
  EXPECT_EQ(Mirrored()->agents.size(), 2u);
  EXPECT_EQ(OnState([&] { return workspace_store_.All().value().size(); }), 1u);
}

TEST_F(WorkspaceGateTest, AMissingConfigIsNotFound) {
  std::filesystem::create_directories(root_);
  EXPECT_THAT(Use(false), FailsWith(absl::StatusCode::kNotFound, "NO_CONFIG"));
}

}  // namespace
}  // namespace intercom
