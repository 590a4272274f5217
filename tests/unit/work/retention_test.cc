#include "broker/work/retention.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

// A broker's start, long after others were there.
class RetentionTest : public WorkRig {
 protected:
  const absl::Duration long_ = Retention::kUnknownSessionsKept + absl::Hours(1);

  ~RetentionTest() override { runner_->Stop(); }

  TestSession JoinPeer(const std::string& id) {
    const auto session = TryAttach(PeerHello(id));
    EXPECT_THAT(session, IsOk());
    return *session;
  }
  Retention Start() {
    return Retention({history_, ask_store_, job_store_, run_store_, note_store_,
                      session_store_},
                     observations_, abandoned_, roster_, clock_);
  }
  // Steps until there is no more.
  void Run(Retention& retention) {
    OnState([&] {
      while (true) {
        const auto more = retention.Step();
        EXPECT_THAT(more, IsOk());
        if (!more.ok() || !*more) return true;
      }
    });
    // What was asked of the config lanes.
    Answer<absl::StatusOr<Discovery>> looked;
    DiscoveryRequest request;
    request.cwd = root_;
    lanes_.FindRoot(request, looked.Callback());
    looked.Wait().IgnoreError();
    Sync();
  }
  // A broker that started when a team was gone for long, and its first hour.
  void RunLater() {
    clock_.Advance(long_);
    Retention retention = Start();
    clock_.Advance(Retention::kForgetEvery);
    Run(retention);
  }
  void DeleteConfig() { std::filesystem::remove_all(root_); }
  bool IsWorkspaceKnown() {
    return OnState([&] {
      const bool stored = workspace_store_.Find(root_).value().has_value();
      EXPECT_EQ(mirror_.Find(root_) != nullptr, stored);
      return stored;
    });
  }
  bool IsKnown(const std::string& id) {
    return OnState([&] { return session_store_.Find(id).value().has_value(); });
  }

  DeliveryHistory history_{runner_->database()};
};

TEST_F(RetentionTest, UnknownSessionsAreForgottenAnHourAfterTheStart) {
  Detach(JoinPeer("p-1"));
  clock_.Advance(long_);
  Retention retention = Start();
  Run(retention);
  EXPECT_TRUE(IsKnown("p-1"));
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  EXPECT_FALSE(IsKnown("p-1"));
}

TEST_F(RetentionTest, TheyAreLookedForOnceAnHour) {
  clock_.Advance(long_);
  Retention retention = Start();
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  Detach(JoinPeer("p-1"));
  // Only the wall clock: it was set.
  clock_.Jump(long_);
  Run(retention);
  EXPECT_TRUE(IsKnown("p-1"));
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  EXPECT_FALSE(IsKnown("p-1"));
}

TEST_F(RetentionTest, WhoIsAttachedStaysHoweverLong) {
  JoinPeer("p-1");
  Retention retention = Start();
  clock_.Advance(long_);
  Run(retention);
  EXPECT_TRUE(IsKnown("p-1"));
}

TEST_F(RetentionTest, AWorkspaceWithoutConfigIsForgottenWithItsPane) {
  WriteTeam();
  Detach(Join("c-1"));
  OnState([&] {
    MonitorPaneRow pane;
    pane.root = root_;
    pane.claim_id = "k-1";
    pane.updated_at = clock_.Now();
    return monitor_panes_.Save(pane);
  }).IgnoreError();
  DeleteConfig();
  RunLater();
  EXPECT_FALSE(IsWorkspaceKnown());
  EXPECT_FALSE(
      OnState([&] { return monitor_panes_.Find(root_).value().has_value(); }));
  // Nothing names its sessions any more.
  EXPECT_TRUE(IsKnown("c-1"));
  RunLater();
  EXPECT_FALSE(IsKnown("c-1"));
}

TEST_F(RetentionTest, ADirectoryThatLostItsConfigIsNoWorkspaceEither) {
  WriteTeam();
  Detach(Join("c-1"));
  std::filesystem::remove(ConfigPath(root_));
  // One above is another workspace.
  WriteConfig(dir_.path(), ConfigText({{"c-9", "Coordinator"}}));
  RunLater();
  EXPECT_FALSE(IsWorkspaceKnown());
}

TEST_F(RetentionTest, AWorkspaceWithItsConfigStaysHoweverLong) {
  WriteTeam();
  Detach(Join("c-1"));
  RunLater();
  EXPECT_TRUE(IsWorkspaceKnown());
  EXPECT_TRUE(IsKnown("c-1"));
}

TEST_F(RetentionTest, AWorkspaceStaysWhileASessionIsThereOrWasLately) {
  WriteTeam();
  const TestSession coordinator = Join("c-1");
  DeleteConfig();
  RunLater();
  EXPECT_TRUE(IsWorkspaceKnown());
  Detach(coordinator);
  Retention retention = Start();
  clock_.Advance(Retention::kForgetEvery);
  Run(retention);
  EXPECT_TRUE(IsWorkspaceKnown());
  clock_.Advance(long_);
  Run(retention);
  EXPECT_FALSE(IsWorkspaceKnown());
}

TEST_F(RetentionTest, AWorkspaceWithAnOpenJobStays) {
  WriteTeam();
  Detach(Join("c-1"));
  CloseJobIs("w-1", v1::Job::STATE_UNCERTAIN);
  DeleteConfig();
  RunLater();
  EXPECT_TRUE(IsWorkspaceKnown());
}

TEST_F(RetentionTest, MailInAForgottenWorkspaceEndsAsThatOfOneRemoved) {
  WriteTeam();
  const TestSession coordinator = Join("c-1");
  EXPECT_THAT(Send(CallOf(coordinator), "Reviewer", Message("e1")), IsOk());
  Detach(coordinator);
  DeleteConfig();
  RunLater();
  EXPECT_FALSE(IsWorkspaceKnown());
  EXPECT_EQ(RecordOf("c-1/e1").end(), v1::DELIVERY_END_UNSPECIFIED);
  EXPECT_EQ(FromProto(RecordOf("c-1/e1").expires_at()),
            clock_.Now() + kUnconfiguredKept);
  EXPECT_TRUE(IsKnown("c-1"));
  clock_.Advance(kUnconfiguredKept);
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("c-1/e1").end(), v1::DELIVERY_END_EXPIRED);
  // Its sender is told when it comes.
  WriteTeam();
  EXPECT_THAT(NoticesOf(Join("c-1"), "EXPIRED"), ::testing::SizeIs(1));
}

// It begins anew: whoever its config names coordinates.
TEST_F(RetentionTest, AForgottenWorkspaceMayComeBack) {
  WriteTeam();
  Detach(Join("c-1"));
  DeleteConfig();
  RunLater();
  EXPECT_FALSE(IsWorkspaceKnown());
  WriteConfig(root_, ConfigText({{"c-2", "Coordinator"}, {"w-1", "Reviewer"}}));
  EXPECT_EQ(Join("c-2").link->welcome().role(), v1::ROLE_COORDINATOR);
  EXPECT_TRUE(IsWorkspaceKnown());
}

}  // namespace
}  // namespace intercom
