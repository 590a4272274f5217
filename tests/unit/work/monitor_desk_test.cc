#include "broker/work/monitor_desk.h"

#include <string>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using Stage = v1::MonitorPane;

// A coordinator's agent that asks for the monitor's pane.
class MonitorDeskTest : public WorkRig {
 protected:
  MonitorDeskTest() { WriteTeam(); }
  ~MonitorDeskTest() override { runner_->Stop(); }

  // The coordinator, in the host with this process.
  TestSession JoinIn(int64_t pid) {
    v1::Hello hello = HelloOf("c-1");
    hello.set_host_pid(pid);
    hello.set_host_start_ticks(pid == getpid() ? StartTicksOf(pid) : 7);
    const auto session = TryAttach(hello);
    EXPECT_THAT(session, IsOk());
    SayPresent(*session, {});
    return *session;
  }
  absl::StatusOr<v1::ClaimMonitorPaneResponse> TryClaim(
      const TestSession& session, const std::string& id,
      const std::string& gone = "") {
    v1::ClaimMonitorPaneRequest request;
    request.set_claim_id(id);
    request.mutable_caller()->set_launcher("tmux");
    request.mutable_caller()->set_pane("%0");
    request.set_gone_claim_id(gone);
    return CallOn(monitors_, &MonitorDesk::Claim, CallOf(session), request);
  }
  v1::ClaimMonitorPaneResponse Claim(const TestSession& session,
                                     const std::string& id,
                                     const std::string& gone = "") {
    const auto response = TryClaim(session, id, gone);
    EXPECT_THAT(response, IsOk());
    return response.value_or(v1::ClaimMonitorPaneResponse());
  }
  absl::StatusOr<v1::AdvanceMonitorPaneResponse> Advance(
      const TestSession& session, const std::string& id, Stage::Stage stage) {
    v1::AdvanceMonitorPaneRequest request;
    request.set_claim_id(id);
    request.set_stage(stage);
    request.mutable_pane()->set_pane("%7");
    return CallOn(monitors_, &MonitorDesk::Advance, CallOf(session), request);
  }
  Stage::Stage StageNow() {
    return OnState([&] { return monitor_panes_.Find(root_).value()->stage; });
  }
  void Observe(const std::string& id,
               std::shared_ptr<const void> watch = nullptr) {
    runner_->PostTask([&] { monitors_.OnObserved(id, watch); });
    Sync();
    Sync();
  }

  MonitorDesk monitors_{*runner_, workspaces_, roster_, monitor_panes_, clock_};
};

TEST_F(MonitorDeskTest, NobodyOpensOneBeforeThereIsAWorker) {
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  const TestSession host = JoinIn(getpid());
  const auto nothing = Claim(host, "k-1");
  EXPECT_FALSE(nothing.open());
  EXPECT_FALSE(nothing.has_pane());
  WriteTeam();
  EXPECT_TRUE(Claim(host, "k-2").open());
}

TEST_F(MonitorDeskTest, AWorkerThatIsAwayCounts) {
  EXPECT_TRUE(Claim(JoinIn(getpid()), "k-1").open());
}

TEST_F(MonitorDeskTest, OneClaimIsOpenedOnceAndMayBeRepeated) {
  const TestSession host = JoinIn(getpid());
  EXPECT_TRUE(Claim(host, "k-1").open());
  EXPECT_TRUE(Claim(host, "k-1").open());
  // Another agent of the same host, after the first died.
  const auto other = Claim(host, "k-2");
  EXPECT_FALSE(other.open());
  EXPECT_EQ(other.pane().claim_id(), "k-1");
  EXPECT_THAT(Advance(host, "k-1", Stage::STAGE_SUBMITTED), IsOk());
  EXPECT_FALSE(Claim(host, "k-1").open());
  EXPECT_EQ(Claim(host, "k-3").pane().pane().pane(), "%7");
}

TEST_F(MonitorDeskTest, WhatAPersonClosedStaysClosedUntilTheNextStart) {
  const TestSession host = JoinIn(getpid());
  Claim(host, "k-1");
  ASSERT_THAT(Advance(host, "k-1", Stage::STAGE_SUBMITTED), IsOk());
  const auto closed = Claim(host, "k-2", "k-1");
  EXPECT_FALSE(closed.open());
  EXPECT_FALSE(closed.has_pane());
  Detach(host);
  const TestSession next = JoinIn(1);
  EXPECT_EQ(Claim(next, "k-3").pane().claim_id(), "k-1");
  EXPECT_TRUE(Claim(next, "k-4", "k-1").open());
}

TEST_F(MonitorDeskTest, OneThatIsThereIsKeptOverAStart) {
  const TestSession host = JoinIn(getpid());
  Claim(host, "k-1");
  ASSERT_THAT(Advance(host, "k-1", Stage::STAGE_SUBMITTED), IsOk());
  Detach(host);
  const TestSession next = JoinIn(1);
  const auto there = Claim(next, "k-2");
  EXPECT_FALSE(there.open());
  EXPECT_EQ(there.pane().pane().pane(), "%7");
}

TEST_F(MonitorDeskTest, AnOpeningWhoseHostDiedIsBegunAnewAndOneThatLivesIsNot) {
  const TestSession dead = JoinIn(999'999'999);
  EXPECT_TRUE(Claim(dead, "k-1").open());
  Detach(dead);
  const TestSession alive = JoinIn(getpid());
  EXPECT_TRUE(Claim(alive, "k-2").open());
  Detach(alive);
  EXPECT_FALSE(Claim(JoinIn(1), "k-3").open());
}

TEST_F(MonitorDeskTest, WhatCanNotBeOpenedIsTriedAtTheNextStartOnly) {
  const TestSession host = JoinIn(getpid());
  Claim(host, "k-1");
  ASSERT_THAT(Advance(host, "k-1", Stage::STAGE_GONE), IsOk());
  EXPECT_FALSE(Claim(host, "k-2").open());
  Detach(host);
  EXPECT_TRUE(Claim(JoinIn(1), "k-3").open());
}

TEST_F(MonitorDeskTest, TheMonitorItselfProvesThatItRuns) {
  const TestSession host = JoinIn(getpid());
  Claim(host, "k-1");
  Observe("unknown");
  Observe("k-1");
  EXPECT_EQ(StageNow(), Stage::STAGE_OBSERVED);
  // The word of who started it comes later, and brings the pane.
  EXPECT_THAT(Advance(host, "k-1", Stage::STAGE_SUBMITTED), IsOk());
  EXPECT_EQ(StageNow(), Stage::STAGE_OBSERVED);
  EXPECT_EQ(Claim(host, "k-2").pane().pane().pane(), "%7");
}

// Its opener died before it could say where the pane is.
TEST_F(MonitorDeskTest, AMonitorThatWatchesIsThereWhateverWasLookedFor) {
  const TestSession host = JoinIn(getpid());
  Claim(host, "k-1");
  auto watch = std::make_shared<int>();
  Observe("k-1", watch);
  Detach(host);
  const TestSession next = JoinIn(1);
  EXPECT_FALSE(Claim(next, "k-2").open());
  EXPECT_FALSE(Claim(next, "k-3", "k-1").open());
  watch.reset();
  EXPECT_TRUE(Claim(next, "k-4", "k-1").open());
}

TEST_F(MonitorDeskTest, AStageNeverGoesBackAndAnothersClaimIsNoBodysToMove) {
  const TestSession host = JoinIn(getpid());
  Claim(host, "k-1");
  ASSERT_THAT(Advance(host, "k-1", Stage::STAGE_RUN_PENDING), IsOk());
  for (const auto stage :
       {Stage::STAGE_SPLIT_PENDING, Stage::STAGE_OBSERVED,
        Stage::STAGE_UNSPECIFIED, static_cast<Stage::Stage>(99)}) {
    EXPECT_THAT(Advance(host, "k-1", stage),
                FailsWith(absl::StatusCode::kInvalidArgument, "STAGE_INVALID"));
  }
  EXPECT_THAT(Advance(host, "k-2", Stage::STAGE_SUBMITTED),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_CLAIM"));
  EXPECT_EQ(StageNow(), Stage::STAGE_RUN_PENDING);
}

TEST_F(MonitorDeskTest, OnlyACoordinatorsAgentMayAndOnlyInWords) {
  EXPECT_THAT(TryClaim(Join("w-1"), "k-1"),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  EXPECT_THAT(TryClaim(JoinIn(getpid()), "no/id"),
              FailsWith(absl::StatusCode::kInvalidArgument, "CLAIM_INVALID"));
}

TEST_F(MonitorDeskTest, TheCoordinatorsAgentHearsOfTheFirstWorkerOnce) {
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  mirror_.AddOnChanged(
      [this](const Workspace& workspace) { monitors_.OnMirrored(workspace); });
  const TestSession host = JoinIn(getpid());
  const auto hints = [&] {
    int count = 0;
    for (const auto& frame : host.link->frames()) {
      count += frame.has_roster_changed();
    }
    return count;
  };
  EXPECT_EQ(hints(), 0);
  WriteTeam();
  EXPECT_THAT(ReadConfigNow(), IsOk());
  Sync();
  EXPECT_EQ(hints(), 1);
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}, {"w-2", "Builder"}}));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  Sync();
  EXPECT_EQ(hints(), 1);
}

}  // namespace
}  // namespace intercom
