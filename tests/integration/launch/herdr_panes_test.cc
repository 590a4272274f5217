#include <signal.h>

#include "broker/base/process.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/integration/launch/herdr_standin.h"
#include "tests/integration/launch/pane_matchers.h"
#include "tests/integration/launch/pane_rig.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/launch/pane.h"

namespace intercom {
namespace {

using nlohmann::json;
using ::testing::IsEmpty;
using ::testing::StartsWith;

// Hosts in panes of the stand-in for Herdr, over its socket and by its program.
class HerdrPaneTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Launches the host there.
  v1::HostIdentity Start(const std::vector<std::string>& argv) {
    LaunchPlan plan = rig_.Plan("herdr", "app", fifo_);
    plan.argv = argv;
    const Launch launch = StartHost(plan, around_);
    EXPECT_THAT(launch.status, IsOk());
    answer_ = json::parse(fifo_.Next());
    v1::HostIdentity identity;
    *identity.mutable_pane() = launch.pane;
    if (answer_.contains("pid")) identity.set_host_pid(answer_["pid"]);
    identity.set_host_start_ticks(StartTicksOf(identity.host_pid()));
    return identity;
  }
  v1::HostIdentity StartChild() {
    return Start({rig_.self_, "--child", "facts", fifo_.path()});
  }
  static void EndHost(const v1::HostIdentity& identity) {
    kill(static_cast<pid_t>(identity.host_pid()), SIGKILL);
    Until([&] { return StartTicksOf(identity.host_pid()) == 0; });
  }

  PaneRig rig_;
  Fifo fifo_{rig_.temp_ / "fifo"};
  HerdrStandIn herdr_{rig_, GetParam()};
  Surroundings around_ = rig_.Around(herdr_.Inside());
  json answer_;
};
INSTANTIATE_TEST_SUITE_P(Ways, HerdrPaneTest,
                         ::testing::Values("", "no_socket"));

TEST_P(HerdrPaneTest, AHostKnowsItsPane) {
  const v1::HostIdentity identity =
      Start({rig_.self_, "--host", "own", fifo_.path()});
  ASSERT_EQ(answer_["status"], "OK");
  v1::Pane pane;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      answer_["pane"].get<std::string>(), &pane));
  EXPECT_EQ(pane.ShortDebugString(), identity.pane().ShortDebugString());
  EXPECT_THAT(pane.terminal(), StartsWith("term_"));
}

TEST_P(HerdrPaneTest, InheritedVariablesMakeNoPane) {
  const auto pane = OwnPane(around_);
  ASSERT_THAT(pane, IsOk());
  EXPECT_THAT(pane->pane(), IsEmpty());
}

TEST_P(HerdrPaneTest, TheTabGetsTheNamesItIsGiven) {
  for (const std::string name : {"reviewer", "--help", "a;b #{c}"}) {
    const v1::HostIdentity identity =
        Start({rig_.self_, "--host", "name", fifo_.path(), name});
    EXPECT_EQ(answer_["status"], "OK");
    const json tab =
        herdr_.Ask("tab.get", {{"tab_id", identity.pane().tab()}}, "tab_info");
    const std::string label = tab["tab"]["label"];
    EXPECT_EQ(label.starts_with(' ') ? label.substr(1) : label, name);
  }
}

TEST_P(HerdrPaneTest, WhatIsStillTrueOfAHostIsConfirmed) {
  EXPECT_THAT(InspectHost(StartChild(), around_), IsOk());
}

TEST_P(HerdrPaneTest, AReusedNumberIsAMismatch) {
  v1::HostIdentity identity = StartChild();
  identity.set_host_start_ticks(identity.host_start_ticks() + 1);
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("another one"));
}

TEST_P(HerdrPaneTest, APaneThatWasMovedIsAMismatchAndStays) {
  const v1::HostIdentity identity = StartChild();
  herdr_.Ask("pane.move", {{"pane_id", identity.pane().pane()}}, "pane_move");
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("moved"));
  EndHost(identity);
  EXPECT_THAT(ClosePane(identity, around_), IsMismatch("moved"));
  EXPECT_EQ(herdr_.Panes(), 2u);
}

TEST_P(HerdrPaneTest, APaneWithAnotherProcessIsAMismatchAndStays) {
  v1::HostIdentity identity = StartChild();
  identity.mutable_pane()->set_pid(identity.pane().pid() + 1);
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("replaced"));
  EndHost(identity);
  EXPECT_THAT(ClosePane(identity, around_), IsMismatch("replaced"));
  EXPECT_EQ(herdr_.Panes(), 2u);
}

// An upgrade of Herdr gives a pane another terminal, around the same process.
TEST_P(HerdrPaneTest, AnotherTerminalAroundTheSameProcessIsTheSamePane) {
  v1::HostIdentity identity = StartChild();
  identity.mutable_pane()->set_terminal("term_before");
  EXPECT_THAT(InspectHost(identity, around_), IsOk());
}

TEST_P(HerdrPaneTest, ThePaneOfAnEndedHostCloses) {
  const v1::HostIdentity identity = StartChild();
  EXPECT_THAT(ClosePane(identity, around_), IsMismatch("still runs"));
  EndHost(identity);
  ASSERT_EQ(herdr_.Panes(), 2u);
  const auto closed = ClosePane(identity, around_);
  ASSERT_THAT(closed, IsOk());
  EXPECT_TRUE(*closed);
  EXPECT_EQ(herdr_.Panes(), 1u);
  EXPECT_TRUE(*ClosePane(identity, around_));
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("ended"));
}

TEST_P(HerdrPaneTest, APaneWhoseServerIsGoneIsClosed) {
  const v1::HostIdentity identity = StartChild();
  herdr_.Stop();
  ASSERT_TRUE(Until([&] { return StartTicksOf(identity.pane().pid()) == 0; }));
  std::filesystem::remove(rig_.temp_ / "herdr/bin/herdr");
  EXPECT_TRUE(*ClosePane(identity, around_));
}

class HerdrPaneFaultTest : public ::testing::Test {
 protected:
  PaneRig rig_;
};

TEST_F(HerdrPaneFaultTest, AHerdrThatIsNotUnderstoodKnowsNoPane) {
  for (const char* faults : {"garbage", "huge_output", "no_socket,garbage"}) {
    const HerdrStandIn herdr(rig_, faults);
    EXPECT_THAT(OwnPane(rig_.Around(herdr.Inside())),
                FailsWith(absl::StatusCode::kUnavailable, "PANE_UNKNOWN"))
        << faults;
  }
}

TEST_F(HerdrPaneFaultTest, AHerdrThatIsGoneLeavesALivingPaneUnknown) {
  v1::HostIdentity identity;
  identity.mutable_pane()->set_launcher("herdr");
  identity.mutable_pane()->set_server(rig_.temp_ / "gone");
  identity.mutable_pane()->set_pane("w1:p1");
  identity.mutable_pane()->set_pid(getpid());
  identity.set_host_pid(1 << 22);
  identity.set_host_start_ticks(1);
  EXPECT_THAT(ClosePane(identity, rig_.Around({})),
              FailsWith(absl::StatusCode::kUnavailable, "PANE_UNKNOWN"));
}

}  // namespace
}  // namespace intercom
