#include <fstream>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/launch/herdr_standin.h"
#include "tests/integration/launch/pane_rig.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/launch/monitor_pane.h"

namespace intercom {
namespace {

using Stage = v1::MonitorPane;
using ::testing::ElementsAre;

// The monitor's pane above another, with a program in the monitor's place that
// says how it was started.
class MonitorPanes {
 public:
  MonitorPanes() {
    const std::string path = rig_.temp_ / "intercom";
    std::ofstream(path) << "#!/bin/sh\n"
                        << "printf '%s|' \"$@\" \"$PI_INTERCOM_MONITOR_CLAIM\" "
                           "\"$PI_INTERCOM_HOME\" \"$PWD\" > '"
                        << fifo_.path() << "'\n"
                        << "echo >> '" << fifo_.path() << "'\n"
                        << "exec sleep 1000\n";
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  v1::MonitorPane Claim(v1::Pane caller, const std::string& root) {
    v1::MonitorPane claim;
    claim.set_claim_id("claim-1");
    claim.set_workspace_root(root);
    claim.set_stage(Stage::STAGE_SPLIT_PENDING);
    *claim.mutable_caller() = std::move(caller);
    return claim;
  }
  std::string Started(const std::string& root) {
    return "monitor|--workspace|" + root + "|claim-1|" + rig_.home_ + "|" +
           root + "|";
  }

  PaneRig rig_;
  Fifo fifo_{rig_.temp_ / "fifo"};
};

class TmuxMonitorTest : public ::testing::Test, public MonitorPanes {
 protected:
  v1::Pane First() const {
    v1::Pane pane;
    pane.set_launcher("tmux");
    pane.set_server(server_.socket());
    pane.set_pane("%0");
    return pane;
  }
  TmuxServer server_{rig_, rig_.temp_ / "tmux", rig_.BaseEnvironment()};
  Surroundings around_ = rig_.Around(server_.Inside());
};

TEST_F(TmuxMonitorTest, ItOpensAboveWithAQuarterAndTheFocusStays) {
  for (const std::string& name : HostileNames()) {
    if (name.find('\n') != std::string::npos) continue;  // A line of the test.
    const std::string root = rig_.Project(name);
    const auto step = DoMonitorStep(Claim(First(), root), around_);
    ASSERT_THAT(step, IsOk()) << name;
    EXPECT_EQ(step->stage, Stage::STAGE_SUBMITTED);
    EXPECT_EQ(fifo_.Next(), Started(root));
    const std::string pane = step->pane.pane();
    EXPECT_EQ(
        server_.Show(pane, "#{pane_at_top} #{pane_height} #{pane_active}"),
        "1 8 0");
    EXPECT_EQ(server_.Show("%0", "#{pane_at_bottom} #{pane_active}"), "1 1");
    EXPECT_EQ(IsMonitorThere(step->pane, around_).value(), true);
    server_.Run({"kill-pane", "-t", pane});
    EXPECT_EQ(IsMonitorThere(step->pane, around_).value(), false);
  }
  EXPECT_FALSE(rig_.Pwned());
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

TEST_F(TmuxMonitorTest, APaneOfAnotherProcessIsNotTheMonitors) {
  v1::Pane pane = First();
  pane.set_pid(1);
  EXPECT_EQ(IsMonitorThere(pane, around_).value(), false);
  EXPECT_EQ(IsMonitorThere(v1::Pane(), around_).value(), false);
}

TEST_F(TmuxMonitorTest, WithoutItsProgramNothingIsSplit) {
  std::filesystem::remove(rig_.temp_ / "intercom");
  EXPECT_THAT(
      DoMonitorStep(Claim(First(), rig_.Project("a")), around_),
      FailsWith(absl::StatusCode::kFailedPrecondition, "PROGRAM_MISSING"));
  EXPECT_EQ(server_.Run({"list-panes", "-a", "-F", "#{pane_id}"}), "%0\n");
}

TEST_F(TmuxMonitorTest, AWindowWithoutRoomIsAnErrorInWords) {
  server_.Run({"resize-window", "-t", "%0", "-y", "2"});
  const auto step = DoMonitorStep(Claim(First(), rig_.Project("a")), around_);
  EXPECT_THAT(step, FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

class HerdrMonitorTest : public ::testing::TestWithParam<const char*>,
                         public MonitorPanes {
 protected:
  HerdrStandIn herdr_{rig_, GetParam()};
  Surroundings around_ = rig_.Around(herdr_.Inside());
};
INSTANTIATE_TEST_SUITE_P(Ways, HerdrMonitorTest,
                         ::testing::Values("", "no_socket"));

TEST_P(HerdrMonitorTest, ItIsSplitNamedSwappedAndRunStepByStep) {
  const std::string root = rig_.Project("it's a 🛰; #{x}");
  v1::Pane caller;
  caller.set_launcher("herdr");
  caller.set_server(ValueOf(around_.environment, "HERDR_SOCKET_PATH"));
  caller.set_pane(ValueOf(around_.environment, "HERDR_PANE_ID"));
  v1::MonitorPane claim = Claim(caller, root);
  std::vector<int> stages;
  while (claim.stage() != Stage::STAGE_SUBMITTED) {
    const auto step = DoMonitorStep(claim, around_);
    ASSERT_THAT(step, IsOk());
    claim.set_stage(step->stage);
    *claim.mutable_pane() = step->pane;
    stages.push_back(step->stage);
  }
  EXPECT_THAT(
      stages,
      ElementsAre(Stage::STAGE_RENAME_PENDING, Stage::STAGE_SWAP_PENDING,
                  Stage::STAGE_RUN_PENDING, Stage::STAGE_SUBMITTED));
  EXPECT_EQ(fifo_.Next(), Started(root));
  EXPECT_EQ(herdr_.Panes(), 2u);
  const nlohmann::json pane =
      herdr_.Ask("pane.get", {{"pane_id", claim.pane().pane()}}, "pane_info");
  EXPECT_EQ(pane["pane"]["label"], "intercom monitor");
  const nlohmann::json layout = herdr_.Ask(
      "pane.layout", {{"pane_id", caller.pane()}}, "pane_layout")["layout"];
  EXPECT_EQ(layout["focused_pane_id"], caller.pane());
  std::map<std::string, nlohmann::json> places;
  for (const auto& one : layout["panes"]) places[one["pane_id"]] = one["rect"];
  const nlohmann::json& above = places[claim.pane().pane()];
  const nlohmann::json& below = places[caller.pane()];
  EXPECT_LT(above["y"], below["y"]) << layout;
  EXPECT_LT(above["height"], below["height"]) << layout;
  EXPECT_EQ(IsMonitorThere(claim.pane(), around_).value(), true);
  herdr_.Ask("pane.close", {{"pane_id", claim.pane().pane()}}, "ok");
  EXPECT_EQ(IsMonitorThere(claim.pane(), around_).value(), false);
}

}  // namespace
}  // namespace intercom
