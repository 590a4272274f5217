#include "worker-agent/launch_plan.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "worker-agent/initialize.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

const Surroundings& Around() {
  static const auto* const kAround = new Surroundings{
      .environment = {{"PATH", "/bin"}}, .agent_path = "", .home = "/state"};
  return *kAround;
}

HostLaunch Host() {
  return {.argv = {"/bin/node", "/lib/pi.js"},
          .extension = "/ext/index.ts",
          .agent_dir = "/home/ada/.pi"};
}

v1::BeginLaunchResponse Begun() {
  v1::BeginLaunchResponse begun;
  begun.mutable_job()->set_job_id("job-1");
  begun.mutable_job()->set_launcher("tmux");
  begun.set_launch_token("secret");
  begun.set_workspace_root("/w");
  begun.set_directory("/w/part");
  begun.set_title("Intercom (anonymous)");
  return begun;
}

TEST(LaunchPlanTest, AWorkerIsStartedLikeItsCoordinatorWithItsExtension) {
  const LaunchPlan plan = PlanOf(Host(), Begun(), Around(), "");
  EXPECT_THAT(plan.argv,
              ElementsAre("/bin/node", "/lib/pi.js", "-e", "/ext/index.ts"));
  EXPECT_EQ(plan.launcher, "tmux");
  EXPECT_EQ(plan.directory, "/w/part");
  EXPECT_EQ(plan.title, "Intercom (anonymous)");
}

TEST(LaunchPlanTest, ASavedSessionIsOpenedByItsFile) {
  EXPECT_THAT(PlanOf(Host(), Begun(), Around(), "/s/one two.jsonl").argv,
              ElementsAre("/bin/node", "/lib/pi.js", "-e", "/ext/index.ts",
                          "--session", "/s/one two.jsonl"));
}

TEST(LaunchPlanTest, AHeadlessOneSpeaksRpc) {
  v1::BeginLaunchResponse begun = Begun();
  begun.mutable_job()->set_launcher("headless");
  EXPECT_THAT(PlanOf(Host(), begun, Around(), "/s/one.jsonl").argv,
              ElementsAre("/bin/node", "/lib/pi.js", "--mode", "rpc", "-e",
                          "/ext/index.ts", "--session", "/s/one.jsonl"));
}

TEST(LaunchPlanTest, TheHostIsToldItsStateWorkspaceTokenAndJob) {
  EXPECT_THAT(PlanOf(Host(), Begun(), Around(), "").environment,
              UnorderedElementsAre(Pair("PATH", "/bin"),
                                   Pair("PI_INTERCOM_HOME", "/state"),
                                   Pair("PI_INTERCOM_WORKSPACE", "/w"),
                                   Pair("PI_INTERCOM_LAUNCH_TOKEN", "secret"),
                                   Pair("PI_INTERCOM_JOB_ID", "job-1")));
}

TEST(LaunchPlanTest, NothingOfTheOwnTerminalShellOrSessionIsInherited) {
  Environment own;
  for (const char* name : {"TERM",
                           "TERM_PROGRAM",
                           "TERMINFO",
                           "COLORTERM",
                           "TMUX",
                           "TMUX_PANE",
                           "HERDR_ENV",
                           "HERDR_WORKSPACE_ID",
                           "STY",
                           "WINDOWID",
                           "COLUMNS",
                           "LINES",
                           "SHLVL",
                           "PWD",
                           "OLDPWD",
                           "_",
                           "PI_INTERCOM_SESSION",
                           "PI_INTERCOM_LAUNCH_TOKEN",
                           "PI_INTERCOM_JOB_ID",
                           "PI_INTERCOM_HEADLESS_SOCKET",
                           "PI_INTERCOM_GUARDS",
                           "PI_INTERCOM_OUTLIVES",
                           "PI_SESSION_ID",
                           "PI_SESSION_FILE"}) {
    own[name] = "x";
  }
  EXPECT_THAT(InheritedEnvironment(own), IsEmpty());
}

TEST(LaunchPlanTest, WhatAHostNeedsIsInherited) {
  const Environment own = {{"HOME", "/home/ada"},
                           {"LANG", "C.UTF-8"},
                           {"ANTHROPIC_API_KEY", "key"},
                           {"PI_CODING_AGENT_DIR", "/pi"},
                           {"PI_CODING_AGENT_SESSION_DIR", "/sessions"},
                           {"PI_INTERCOM_SCOPE_ID", "fleet"}};
  EXPECT_EQ(InheritedEnvironment(own), own);
}

TEST(HostLaunchTest, IsReadFromInitialize) {
  const auto host = HostLaunchOf({{"launch",
                                   {{"argv", {"/bin/node", "/lib/pi.js"}},
                                    {"extension", "/ext/index.ts"},
                                    {"agentDir", "/home/ada/.pi"}}}});
  ASSERT_TRUE(host.has_value());
  EXPECT_THAT(host->argv, ElementsAre("/bin/node", "/lib/pi.js"));
  EXPECT_EQ(host->extension, "/ext/index.ts");
  EXPECT_EQ(host->agent_dir, "/home/ada/.pi");
}

TEST(HostLaunchTest, IsNothingWithoutProgramOrExtension) {
  for (const char* params :
       {R"({})", R"({"launch":{"argv":[],"extension":"/e"}})",
        R"({"launch":{"argv":["pi",7],"extension":"/e"}})",
        R"({"launch":{"argv":["pi"]}})",
        R"({"launch":{"argv":["pi"],"extension":"relative.ts"}})"}) {
    EXPECT_FALSE(HostLaunchOf(ParseJson(params)).has_value()) << params;
  }
}

}  // namespace
}  // namespace intercom
