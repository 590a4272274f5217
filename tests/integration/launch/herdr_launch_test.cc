#include <signal.h>

#include "broker/base/process.h"
#include "broker/domain/fence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/launch/herdr_standin.h"
#include "tests/integration/launch/pane_rig.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class HerdrLaunchTest : public ::testing::Test {
 protected:
  Launch LaunchWithin(absl::Duration time, const Surroundings& around) {
    return StartHostWith(rig_.Plan("herdr", "app", fifo_), around, rig_.clock_,
                         rig_.random_, {.time = time});
  }

  // Launches `name` and checks that exactly this runs in its directory.
  Launch ExpectRuns(const HerdrStandIn& herdr, const std::string& name) {
    const LaunchPlan plan = rig_.Plan("herdr", name, fifo_);
    const Launch launch = StartHost(plan, rig_.Around(herdr.Inside()));
    EXPECT_THAT(launch.status, IsOk());
    const std::string line = launch.status.ok() ? fifo_.Next() : "";
    const json facts = json::parse(line, nullptr, false);
    if (facts.is_discarded()) {
      ADD_FAILURE() << "nothing runs: " << launch.detail;
      return launch;
    }
    EXPECT_EQ(facts["words"], json({name, "", ";", name + ";"}));
    EXPECT_EQ(facts["cwd"], plan.directory);
    EXPECT_EQ(facts["environment"]["WORD"], name);
    EXPECT_EQ(facts["environment"]["HERDR_PANE_ID"], launch.pane.pane());
    EXPECT_EQ(facts["pid"], launch.host_pid);
    EXPECT_EQ(launch.pane.pid(), launch.host_pid);
    EXPECT_EQ(launch.host_start_ticks, StartTicksOf(launch.host_pid));
    EXPECT_TRUE(launch.may_be_started);
    const json tab =
        herdr.Ask("tab.get", {{"tab_id", launch.pane.tab()}}, "tab_info");
    EXPECT_EQ(tab["tab"]["pane_count"], 1);
    // Where the command line carries it, a dash gets a space before it.
    const std::string label = tab["tab"]["label"];
    EXPECT_EQ(label.starts_with(' ') ? label.substr(1) : label,
              SafeLabel(name));
    EXPECT_EQ(herdr.Panes(), 2u);
    EXPECT_EQ(rig_.LaunchFiles(), 0u);
    EXPECT_FALSE(rig_.Pwned());
    return launch;
  }

  void ExpectNothingLeft(const Launch& launch) {
    EXPECT_FALSE(launch.may_be_started);
    EXPECT_EQ(rig_.LaunchFiles(), 0u);
    EXPECT_FALSE(fifo_.HasSome());
  }

  PaneRig rig_;
  Fifo fifo_{rig_.temp_ / "fifo"};
};

class HerdrNamesTest : public HerdrLaunchTest,
                       public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Names, HerdrNamesTest,
                         ::testing::ValuesIn(HostileNames()));

TEST_P(HerdrNamesTest, ATabRunsExactlyThisThere) {
  const HerdrStandIn herdr(rig_);
  const Launch launch = ExpectRuns(herdr, GetParam());
  EXPECT_THAT(launch.detail, Not(HasSubstr("typed")));
}

TEST_P(HerdrNamesTest, AShellThatIsTypedIntoRunsExactlyThisThere) {
  const HerdrStandIn herdr(rig_, "no_socket");
  const Launch launch = ExpectRuns(herdr, GetParam());
  EXPECT_THAT(launch.detail, HasSubstr("typed"));
}

TEST_F(HerdrLaunchTest, AnOlderHerdrIsTypedIntoAndThisIsSaid) {
  const HerdrStandIn herdr(rig_, "no_layout");
  const Launch launch = ExpectRuns(herdr, "app");
  EXPECT_THAT(launch.detail, HasSubstr("typed"));
}

TEST_F(HerdrLaunchTest, NothingIsTypedBeforeTheShellIsReady) {
  const HerdrStandIn herdr(rig_, "no_layout,slow_start");
  ExpectRuns(herdr, "app");
}

TEST_F(HerdrLaunchTest, AHostInHerdrDoesNotBelieveToBeInTmux) {
  const HerdrStandIn herdr(rig_);
  ExpectRuns(herdr, "app");
  // Were the variables there, they would come from Herdr's own surroundings.
  LaunchPlan plan = rig_.Plan("herdr", "next", fifo_);
  plan.argv = {"/usr/bin/env", "TMUX=x", rig_.self_,
               "--host",       "facts",  fifo_.path()};
  ASSERT_THAT(StartHost(plan, rig_.Around(herdr.Inside())).status, IsOk());
  EXPECT_EQ(json::parse(fifo_.Next())["environment"]["TMUX"], "x");
}

TEST_F(HerdrLaunchTest, OutsideOfHerdrItIsUnavailable) {
  const HerdrStandIn herdr(rig_);
  using Names = std::vector<std::string>;
  for (const Names& missing : {Names{"HERDR_ENV"}, Names{"HERDR_WORKSPACE_ID"},
                               Names{"HERDR_ENV", "HERDR_WORKSPACE_ID"}}) {
    Environment inside = herdr.Inside();
    for (const std::string& name : missing) inside[name] = "";
    const Launch launch =
        StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(inside));
    EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                         "LAUNCHER_UNAVAILABLE"));
    const std::string said(launch.status.message());
    EXPECT_THAT(said, HasSubstr("name launcher: tmux"));
    EXPECT_THAT(said, HasSubstr("ask the person"));
    EXPECT_THAT(said, Not(HasSubstr("intercom_set_multiplexer")));
    if (missing.size() == 1) {
      EXPECT_THAT(said, HasSubstr("(" + missing[0] + " is "));
    } else {
      EXPECT_THAT(said, Not(HasSubstr("HERDR_")));
    }
    ExpectNothingLeft(launch);
  }
  EXPECT_EQ(herdr.Panes(), 1u);
}

TEST_F(HerdrLaunchTest, AServerThatIsGoneIsUnavailable) {
  Environment inside;
  {
    HerdrStandIn herdr(rig_);
    inside = herdr.Inside();
  }
  const Launch launch =
      StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(inside));
  EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                       "LAUNCHER_UNAVAILABLE"));
  ExpectNothingLeft(launch);
}

TEST_F(HerdrLaunchTest, AProgramThatFindsNoServerMakesItUnavailable) {
  const HerdrStandIn herdr(rig_, "no_socket,server_not_running");
  const Launch launch =
      StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(herdr.Inside()));
  EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                       "LAUNCHER_UNAVAILABLE"));
  ExpectNothingLeft(launch);
}

TEST_F(HerdrLaunchTest, AWorkspaceThatIsGoneFailsTheLaunch) {
  for (const char* faults : {"", "no_socket"}) {
    const HerdrStandIn herdr(rig_, faults);
    Environment inside = herdr.Inside();
    inside["HERDR_WORKSPACE_ID"] = "w7";
    const Launch launch =
        StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(inside));
    EXPECT_THAT(launch.status,
                FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
    EXPECT_THAT(std::string(launch.status.message()), HasSubstr("w7"));
    ExpectNothingLeft(launch);
    EXPECT_EQ(herdr.Panes(), 1u);
  }
}

TEST_F(HerdrLaunchTest, ARefusedTabStartsNothing) {
  const HerdrStandIn herdr(rig_, "no_layout,tab_create_failed");
  const Launch launch =
      StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(herdr.Inside()));
  EXPECT_THAT(launch.status,
              FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
  ExpectNothingLeft(launch);
  EXPECT_EQ(herdr.Panes(), 1u);
}

TEST_F(HerdrLaunchTest, ARefusedLayoutStartsNothing) {
  const HerdrStandIn herdr(rig_, "layout_apply_failed");
  const Launch launch =
      StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(herdr.Inside()));
  EXPECT_THAT(launch.status,
              FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
  ExpectNothingLeft(launch);
}

TEST_F(HerdrLaunchTest, LostTypingIsNoticedAndItsTabStays) {
  const HerdrStandIn herdr(rig_, "no_layout,run_lost");
  const Launch launch =
      LaunchWithin(absl::Seconds(6), rig_.Around(herdr.Inside()));
  EXPECT_THAT(launch.status,
              FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
  EXPECT_THAT(launch.detail, HasSubstr("was made and stays"));
  EXPECT_THAT(launch.detail, HasSubstr(launch.pane.tab()));
  ExpectNothingLeft(launch);
  EXPECT_EQ(herdr.Panes(), 2u);
}

TEST_F(HerdrLaunchTest, WithoutAnAnswerWhatMayRunIsNotDenied) {
  const HerdrStandIn herdr(rig_, "layout_lost");
  const Launch launch =
      StartHost(rig_.Plan("herdr", "app", fifo_), rig_.Around(herdr.Inside()));
  EXPECT_THAT(launch.status,
              FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
  // Either the pane's agent was quicker and becomes the host, or it finds that
  // there is nothing to start.
  const auto refused = [&] {
    for (const char* pane : {"%0", "%1"}) {
      if (herdr.Tmux({"capture-pane", "-p", "-t", pane})
              .find("could not be started") != std::string::npos) {
        return true;
      }
    }
    return false;
  };
  ASSERT_TRUE(Until([&] { return fifo_.HasSome() || refused(); }));
  EXPECT_EQ(launch.may_be_started, fifo_.HasSome());
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

TEST_F(HerdrLaunchTest, AHerdrThatHangsStartsNothingLater) {
  for (const char* faults : {"hang", "no_socket,hang"}) {
    const HerdrStandIn herdr(rig_, faults);
    const Launch launch =
        LaunchWithin(absl::Seconds(1), rig_.Around(herdr.Inside()));
    EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kDeadlineExceeded,
                                         "LAUNCH_TIMED_OUT"))
        << faults;
    ExpectNothingLeft(launch);
  }
}

TEST_F(HerdrLaunchTest, AnswersThatAreNotUnderstoodFailTheLaunch) {
  for (const char* faults : {"no_socket,garbage", "no_socket,huge_output",
                             "no_layout,garbage", "no_layout,huge_output"}) {
    const HerdrStandIn herdr(rig_, faults);
    const Launch launch = StartHost(rig_.Plan("herdr", "app", fifo_),
                                    rig_.Around(herdr.Inside()));
    EXPECT_THAT(launch.status,
                FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"))
        << faults;
    EXPECT_THAT(launch.detail, HasSubstr("tab"));
    ExpectNothingLeft(launch);
  }
}

}  // namespace
}  // namespace intercom
