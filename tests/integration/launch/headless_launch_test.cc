// Headless hosts with the real agent: this program is the host.
#include <signal.h>

#include <fstream>

#include "broker/base/process.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/integration/launch/pane_rig.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/launch/pane.h"

namespace intercom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class HeadlessLaunchTest : public ::testing::Test {
 protected:
  LaunchPlan Plan(const std::string& what, const std::string& name,
                  std::vector<std::string> words = {}) {
    LaunchPlan plan = rig_.Plan("headless", name, fifo_);
    plan.argv = {rig_.self_, "--host", what, fifo_.path()};
    plan.argv.insert(plan.argv.end(), words.begin(), words.end());
    plan.environment["PI_INTERCOM_HOME"] = rig_.home_;
    plan.environment["PI_INTERCOM_JOB_ID"] =
        "job-" + std::to_string(++launches_);
    return plan;
  }
  Launch Start(const LaunchPlan& plan, Environment more = {}) {
    Launch launch = StartHostWith(plan, rig_.Around(std::move(more)),
                                  rig_.clock_, rig_.random_, {});
    if (launch.pane.pid() > 0) started_.push_back(launch.pane.pid());
    return launch;
  }
  ~HeadlessLaunchTest() override {
    for (const int64_t pid : started_) {
      kill(static_cast<pid_t>(pid), SIGKILL);
      EXPECT_TRUE(Until([pid] { return StartTicksOf(pid) == 0; }));
    }
  }
  static v1::HostIdentity Identity(const Launch& launch) {
    v1::HostIdentity identity;
    identity.set_session_id("s");
    identity.set_host_pid(launch.host_pid);
    identity.set_host_start_ticks(launch.host_start_ticks);
    *identity.mutable_pane() = launch.pane;
    return identity;
  }

  PaneRig rig_;
  Fifo fifo_{rig_.temp_ / "fifo"};
  int launches_ = 0;
  std::vector<int64_t> started_;
};

TEST_F(HeadlessLaunchTest, TheHostGetsItsArgumentsDirectoryAndVariables) {
  for (const std::string& name : HostileNames()) {
    LaunchPlan plan = Plan("facts", name, {name, "", ";", name + ";"});
    const Launch launch =
        Start(plan, {{"TMUX", "/x,1,2"}, {"PI_SESSION_ID", "other"}});
    ASSERT_THAT(launch.status, IsOk()) << name;
    EXPECT_TRUE(launch.may_be_started);
    const json answer = json::parse(fifo_.Next());
    EXPECT_EQ(answer["words"], json({name, "", ";", name + ";"}));
    EXPECT_EQ(answer["cwd"], plan.directory);
    EXPECT_EQ(answer["environment"]["WORD"], name);
    EXPECT_EQ(answer["environment"]["PI_INTERCOM_HEADLESS_SOCKET"],
              launch.pane.server());
    for (const char* foreign :
         {"TMUX", "PI_SESSION_ID", "PI_INTERCOM_OUTLIVES"}) {
      EXPECT_FALSE(answer["environment"].contains(foreign)) << foreign;
    }
    EXPECT_EQ(answer["pid"], launch.host_pid);
    EXPECT_EQ(launch.pane.launcher(), "headless");
    EXPECT_EQ(launch.host_start_ticks, StartTicksOf(launch.host_pid));
    kill(static_cast<pid_t>(launch.pane.pid()), SIGKILL);
  }
  EXPECT_EQ(rig_.LaunchFiles(), 0U);
  EXPECT_FALSE(rig_.Pwned());
}

TEST_F(HeadlessLaunchTest, TheHostKnowsItsPaneAndInspectionAgrees) {
  const Launch launch = Start(Plan("own", "p"));
  ASSERT_THAT(launch.status, IsOk());
  const json answer = json::parse(fifo_.Next());
  EXPECT_EQ(answer["status"], "OK");
  EXPECT_EQ(answer["pane"], launch.pane.ShortDebugString());
  EXPECT_THAT(InspectHost(Identity(launch), rig_.Around({})), IsOk());
  v1::HostIdentity other = Identity(launch);
  other.mutable_pane()->set_pid(getpid());
  EXPECT_THAT(
      InspectHost(other, rig_.Around({})),
      FailsWith(absl::StatusCode::kFailedPrecondition, "IDENTITY_MISMATCH"));
}

TEST_F(HeadlessLaunchTest, AHostThatRunsIsNotClosedAndOneThatEndedIsGone) {
  const Launch launch = Start(Plan("facts", "p"));
  ASSERT_THAT(launch.status, IsOk());
  fifo_.Next();
  EXPECT_THAT(
      ClosePane(Identity(launch), rig_.Around({})),
      FailsWith(absl::StatusCode::kFailedPrecondition, "IDENTITY_MISMATCH"));
  kill(static_cast<pid_t>(launch.host_pid), SIGKILL);
  const auto closed = ClosePane(Identity(launch), rig_.Around({}));
  ASSERT_THAT(closed, IsOk());
  EXPECT_TRUE(*closed);
  EXPECT_TRUE(Until([&] { return StartTicksOf(launch.pane.pid()) == 0; }));
  EXPECT_NE(access(launch.pane.server().c_str(), F_OK), 0);
}

TEST_F(HeadlessLaunchTest, TheHostOutlivesTheGuardsOfWhoeverLaunchedIt) {
  const Launch launch =
      Start(Plan("facts", "p"), {{"PI_INTERCOM_GUARDS", "g"}});
  ASSERT_THAT(launch.status, IsOk());
  const json answer = json::parse(fifo_.Next());
  EXPECT_EQ(EnvironmentOf(launch.pane.pid(), "PI_INTERCOM_OUTLIVES"), "1");
  EXPECT_EQ(EnvironmentOf(launch.pane.pid(), "PI_INTERCOM_GUARDS"), "");
  const std::string guards = answer["environment"]["PI_INTERCOM_GUARDS"];
  EXPECT_EQ(guards.find(' '), std::string::npos);
}

TEST_F(HeadlessLaunchTest, WhatCannotBeHostedStartsNothing) {
  LaunchPlan plan = Plan("facts", "p");
  plan.environment.erase("PI_INTERCOM_JOB_ID");
  const Launch launch = Start(plan);
  EXPECT_EQ(ReasonOf(launch.status), "LAUNCH_FAILED");
  EXPECT_THAT(MessageOf(launch.status), HasSubstr("no job"));
  EXPECT_EQ(rig_.LaunchFiles(), 0U);
}

}  // namespace
}  // namespace intercom
