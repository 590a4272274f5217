#include <algorithm>
#include <fstream>

#include "broker/base/process.h"
#include "broker/domain/fence.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/integration/launch/pane_rig.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/launch/launch_file.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// tmux keeps these doubled and shows them once.
std::string AsTmuxKeeps(const std::string& title) {
  std::string kept = SafeLabel(title);
  for (size_t at = 0; (at = kept.find("#[", at)) != std::string::npos;
       at += 3) {
    kept.insert(at, "#");
  }
  return kept;
}

class TmuxLaunchTest : public ::testing::Test {
 protected:
  // Puts a `tmux` that is a script first on PATH.
  Environment WithFakeTmux(const std::string& script) {
    fs::create_directories(rig_.temp_ / "fake");
    const std::string path = rig_.temp_ / "fake" + "/tmux";
    std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
    return {{"PATH", (rig_.temp_ / "fake") + ":/usr/bin:/bin"}};
  }
  Launch LaunchWithin(absl::Duration time, const LaunchPlan& plan,
                      const Surroundings& around) {
    return StartHostWith(plan, around, rig_.clock_, rig_.random_,
                         {.time = time});
  }

  PaneRig rig_;
  Fifo fifo_{rig_.temp_ / "fifo"};
};

class TmuxNamesTest : public TmuxLaunchTest,
                      public ::testing::WithParamInterface<std::string> {};
INSTANTIATE_TEST_SUITE_P(Names, TmuxNamesTest,
                         ::testing::ValuesIn(HostileNames()));

TEST_P(TmuxNamesTest, AWindowRunsExactlyThisThere) {
  const TmuxServer server(rig_, rig_.temp_ / "sock;", rig_.BaseEnvironment());
  const LaunchPlan plan = rig_.Plan("tmux", GetParam(), fifo_);

  const Launch launch = StartHost(plan, rig_.Around(server.Inside()));

  ASSERT_THAT(launch.status, IsOk());
  const json facts = json::parse(fifo_.Next());
  EXPECT_EQ(facts["words"], json({GetParam(), "", ";", GetParam() + ";"}));
  EXPECT_EQ(facts["cwd"], plan.directory);
  EXPECT_EQ(facts["environment"]["WORD"], GetParam());
  EXPECT_EQ(facts["environment"]["PWD"], plan.directory);
  EXPECT_EQ(facts["pid"], launch.host_pid);
  EXPECT_EQ(launch.pane.pid(), launch.host_pid);
  EXPECT_EQ(launch.host_start_ticks, StartTicksOf(launch.host_pid));
  EXPECT_TRUE(launch.may_be_started);
  EXPECT_EQ(server.Show(launch.pane.pane(), "#{window_name}"),
            AsTmuxKeeps(GetParam()));
  EXPECT_EQ(server.Run({"list-panes", "-a", "-F", "#{window_panes}"}),
            "1\n1\n");
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
  EXPECT_FALSE(rig_.Pwned());
}

TEST_P(TmuxNamesTest, ASessionOfItsOwnRunsExactlyThisThere) {
  const LaunchPlan plan = rig_.Plan("tmux", GetParam(), fifo_);

  const Launch launch = StartHost(plan, rig_.Around({}));

  ASSERT_THAT(launch.status, IsOk());
  const json facts = json::parse(fifo_.Next());
  EXPECT_EQ(facts["words"], json({GetParam(), "", ";", GetParam() + ";"}));
  EXPECT_EQ(facts["cwd"], plan.directory);
  EXPECT_EQ(facts["pid"], launch.host_pid);
  const std::string name = launch.detail.substr(launch.detail.rfind(' ') + 1);
  const auto tmux = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"tmux", "-u", "-S", launch.pane.server()});
    return rig_.Run(words);
  };
  EXPECT_EQ(tmux({"list-panes", "-s", "-t", "=" + name, "-F", "#{pane_id}"}),
            launch.pane.pane() + "\n");
  EXPECT_EQ(tmux({"display-message", "-p", "-t", launch.pane.pane(),
                  "#{==:#{session_path},#{pane_current_path}}"}),
            "1\n");
  tmux({"kill-server"});
  EXPECT_FALSE(rig_.Pwned());
}

TEST_F(TmuxLaunchTest, AHostInheritsNoOtherSessionAndNoOtherPane) {
  Environment inherited = rig_.BaseEnvironment();
  inherited["PI_INTERCOM_SESSION"] = "another";
  inherited["PI_SESSION_ID"] = "another";
  inherited["HERDR_PANE_ID"] = "w1:p1";
  inherited["HERDR_ENV"] = "1";
  inherited["WORD"] = "of the server";
  inherited["KEPT"] = "yes";
  const TmuxServer server(rig_, rig_.temp_ / "sock", inherited);

  ASSERT_THAT(
      StartHost(rig_.Plan("tmux", "plain", fifo_), rig_.Around(server.Inside()))
          .status,
      IsOk());

  const json facts = json::parse(fifo_.Next())["environment"];
  EXPECT_EQ(facts["WORD"], "plain");
  EXPECT_EQ(facts["KEPT"], "yes");
  EXPECT_EQ(facts["PI_INTERCOM_LAUNCH_TOKEN"], "t");
  EXPECT_TRUE(facts.contains("TMUX_PANE"));
  for (const char* name :
       {"PI_INTERCOM_SESSION", "PI_SESSION_ID", "HERDR_PANE_ID", "HERDR_ENV"}) {
    EXPECT_FALSE(facts.contains(name)) << name;
  }
}

TEST_F(TmuxLaunchTest, AServerThatALaunchStartsKnowsNothingOfTheSession) {
  const Launch launch =
      StartHost(rig_.Plan("tmux", "app", fifo_),
                rig_.Around({{"PI_INTERCOM_SESSION", "s"},
                             {"PI_INTERCOM_WORKSPACE", "/w"},
                             {"PI_INTERCOM_LAUNCH_TOKEN", "secret"}}));
  ASSERT_THAT(launch.status, IsOk());
  EXPECT_THAT(launch.detail, HasSubstr("tmux attach -t intercom-app"));
  fifo_.Next();
  const std::vector<std::string> tmux = {"tmux", "-S", launch.pane.server()};
  auto show = tmux;
  show.insert(show.end(), {"show-environment", "-g"});
  std::string environment = rig_.Run(show);
  EXPECT_THAT(environment, HasSubstr("HOME="));
  // But that it stays when what guards that session ends.
  const std::string outlives = "PI_INTERCOM_OUTLIVES=1\n";
  const size_t at = environment.find(outlives);
  ASSERT_NE(at, std::string::npos);
  environment.erase(at, outlives.size());
  EXPECT_THAT(environment, Not(HasSubstr("PI_INTERCOM")));
  auto stop = tmux;
  stop.push_back("kill-server");
  rig_.Run(stop);
}

TEST_F(TmuxLaunchTest, EverySessionOfALaunchHasANameOfItsOwn) {
  const Surroundings around = rig_.Around({});
  const Launch longer = StartHost(rig_.Plan("tmux", "app-2", fifo_), around);
  const Launch first = StartHost(rig_.Plan("tmux", "app", fifo_), around);
  const Launch second = StartHost(rig_.Plan("tmux", "app", fifo_), around);
  EXPECT_THAT(longer.detail, ::testing::EndsWith("-t intercom-app-2"));
  EXPECT_THAT(first.detail, ::testing::EndsWith("-t intercom-app"));
  EXPECT_THAT(second.detail, ::testing::EndsWith("-t intercom-app-3"));
  rig_.Run({"tmux", "-S", first.pane.server(), "kill-server"});
}

TEST_F(TmuxLaunchTest, ANewWindowOpensInTheSessionOfTheCallersPane) {
  const TmuxServer server(rig_, rig_.temp_ / "sock", rig_.BaseEnvironment());
  const std::string pane =
      server.Run({"new-session", "-d", "-s", "second", "-P", "-F", "#{pane_id}",
                  "--", "sleep", "1000"});
  // TMUX names the first session; the pane has moved to another since.
  const Launch launch =
      StartHost(rig_.Plan("tmux", "app", fifo_),
                rig_.Around(server.Inside(pane.substr(0, pane.find('\n')))));
  ASSERT_THAT(launch.status, IsOk());
  EXPECT_EQ(server.Show(launch.pane.pane(), "#{session_name}"), "second");
  EXPECT_THAT(launch.detail, HasSubstr("second"));
}

TEST_F(TmuxLaunchTest, ATitleStaysWhateverTheHostSays) {
  const TmuxServer server(rig_, rig_.temp_ / "sock", rig_.BaseEnvironment());
  const Launch launch = StartHost(rig_.Plan("tmux", "reviewer", fifo_),
                                  rig_.Around(server.Inside()));
  ASSERT_THAT(launch.status, IsOk());
  EXPECT_EQ(server.Show(launch.pane.tab(), "#{automatic-rename}"), "0");
  EXPECT_EQ(server.Run({"show-options", "-w", "-v", "-t", launch.pane.tab(),
                        "allow-rename"}),
            "off\n");
  EXPECT_EQ(server.Show("%0", "#{automatic-rename}"), "1");
  EXPECT_EQ(server.Show(launch.pane.pane(), "#{@intercom_host}"),
            std::to_string(launch.host_pid) + "." +
                std::to_string(launch.host_start_ticks));
}

TEST_F(TmuxLaunchTest, AMissingTmuxIsAnErrorAndNothingIsLeft) {
  const Launch launch =
      StartHost(rig_.Plan("tmux", "app", fifo_),
                rig_.Around({{"PATH", rig_.temp_.path().string()}}));
  EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                       "LAUNCHER_UNAVAILABLE"));
  EXPECT_THAT(std::string(launch.status.message()),
              HasSubstr("name launcher: herdr in this call"));
  EXPECT_FALSE(launch.may_be_started);
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

TEST_F(TmuxLaunchTest, AServerThatIsGoneIsAnErrorAndNoFallback) {
  Environment inside;
  {
    const TmuxServer server(rig_, rig_.temp_ / "sock", rig_.BaseEnvironment());
    inside = server.Inside();
  }
  const Launch launch =
      StartHost(rig_.Plan("tmux", "app", fifo_), rig_.Around(inside));
  EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kFailedPrecondition,
                                       "LAUNCHER_UNAVAILABLE"));
  EXPECT_FALSE(launch.may_be_started);
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

TEST_F(TmuxLaunchTest, ATmuxThatHangsStartsNothingLater) {
  const Launch launch = LaunchWithin(
      absl::Milliseconds(500), rig_.Plan("tmux", "app", fifo_),
      rig_.Around(WithFakeTmux("[ \"$2\" = has-session ] && exit 1\n"
                               "exec sleep 1000")));
  EXPECT_THAT(launch.status, FailsWith(absl::StatusCode::kDeadlineExceeded,
                                       "LAUNCH_TIMED_OUT"));
  EXPECT_FALSE(launch.may_be_started);
  EXPECT_THAT(launch.detail, HasSubstr("may have opened a window"));
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

TEST_F(TmuxLaunchTest, WhatWasStartedBeforeAFailureIsNotDenied) {
  // It starts what it was told to, says nothing that is understood, and waits
  // for the host.
  const Launch launch = StartHost(
      rig_.Plan("tmux", "app", fifo_),
      rig_.Around(WithFakeTmux(
          "[ \"$2\" = has-session ] && exit 1\n"
          "while [ \"$1\" != --launch ]; do shift; done\n"
          "setsid '" INTERCOM_AGENT "' --launch \"$2\" >/dev/null 2>&1 &\n"
          "while [ -e \"$2\" ]; do sleep 0.05; done; echo so it is")));
  EXPECT_THAT(launch.status,
              FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"));
  EXPECT_TRUE(launch.may_be_started);
  kill(json::parse(fifo_.Next())["pid"].get<pid_t>(), SIGKILL);
}

TEST_F(TmuxLaunchTest, AnswersThatAreNotUnderstoodFailTheLaunch) {
  for (const char* script :
       {"yes", "echo '%1 2'", "true", "echo no >&2; exit 1"}) {
    const Launch launch = StartHost(
        rig_.Plan("tmux", "app", fifo_),
        rig_.Around(WithFakeTmux("[ \"$2\" = has-session ] && exit 1\n" +
                                 std::string(script))));
    EXPECT_THAT(launch.status,
                FailsWith(absl::StatusCode::kUnavailable, "LAUNCH_FAILED"))
        << script;
    EXPECT_FALSE(launch.may_be_started) << script;
    EXPECT_EQ(rig_.LaunchFiles(), 0u);
  }
}

TEST_F(TmuxLaunchTest, WhatCannotBeLaunchedIsRefusedBeforeAnythingIsDone) {
  const TmuxServer server(rig_, rig_.temp_ / "sock", rig_.BaseEnvironment());
  const Surroundings around = rig_.Around(server.Inside());
  const LaunchPlan good = rig_.Plan("tmux", "app", fifo_);
  const auto reason = [&](const LaunchPlan& plan) {
    const Launch launch = StartHost(plan, around);
    EXPECT_FALSE(launch.may_be_started);
    return ReasonOf(launch.status);
  };
  LaunchPlan plan = good;
  plan.directory += "/gone";
  EXPECT_EQ(reason(plan), "DIRECTORY_MISSING");
  plan.directory = "relative";
  EXPECT_EQ(reason(plan), "DIRECTORY_MISSING");
  plan.directory = fifo_.path();
  EXPECT_EQ(reason(plan), "DIRECTORY_MISSING");
  plan = good;
  plan.argv[0] = "/no/such/program";
  EXPECT_EQ(reason(plan), "PROGRAM_MISSING");
  plan = good;
  plan.argv.clear();
  EXPECT_EQ(reason(plan), "LAUNCH_INVALID");
  plan = good;
  plan.argv.push_back(std::string("a\0b", 3));
  EXPECT_EQ(reason(plan), "LAUNCH_INVALID");
  plan = good;
  plan.environment["A=B"] = "c";
  EXPECT_EQ(reason(plan), "LAUNCH_INVALID");
  plan = good;
  plan.launcher = "none";
  EXPECT_EQ(reason(plan), "LAUNCHER_UNAVAILABLE");
  EXPECT_EQ(server.Run({"list-panes", "-a", "-F", "#{pane_id}"}), "%0\n");
  EXPECT_EQ(rig_.LaunchFiles(), 0u);
}

TEST_F(TmuxLaunchTest, ALaunchThatCannotBeFollowedSaysSoUntilAKeyIsPressed) {
  const TmuxServer server(rig_, rig_.temp_ / "sock", rig_.BaseEnvironment());
  LaunchOrder order;
  order.argv = {"/bin/true"};
  order.directory = rig_.temp_ / "gone";
  auto file = LaunchFile::Write(rig_.home_, order, rig_.random_);
  ASSERT_THAT(file, IsOk());
  const std::string pane =
      server
          .Run({"new-window", "-d", "-P", "-F", "#{pane_id}", "--", "/bin/sh",
                "-c", "\"$@\"; echo $? >\"$0\"", fifo_.path(), INTERCOM_AGENT,
                "--launch", file->path()})
          .substr(0, 2);
  ASSERT_TRUE(Until([&] {
    return server.Screen(pane).find("Press any key") != std::string::npos;
  }));
  EXPECT_THAT(server.Screen(pane),
              AllOf(HasSubstr("could not be started"), HasSubstr("gone")));
  server.Run({"send-keys", "-t", pane, "q"});
  EXPECT_EQ(fifo_.Next(), "127");
}

}  // namespace
}  // namespace intercom
