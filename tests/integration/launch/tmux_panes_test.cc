#include <signal.h>

#include <fstream>

#include "broker/base/process.h"
#include "gmock/gmock.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "tests/integration/launch/herdr_standin.h"
#include "tests/integration/launch/pane_matchers.h"
#include "tests/integration/launch/pane_rig.h"
#include "tests/support/status_matchers.h"
#include "worker-agent/launch/pane.h"
#include "worker-agent/launch/tmux_commands.h"

namespace intercom {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Hosts in panes of a real tmux.
class TmuxPaneTest : public ::testing::Test {
 protected:
  // Opens a window that runs this program in that way, and waits for its word.
  struct Opened {
    std::string pane;
    json answer;
  };
  Opened Open(const std::string& how, const std::string& what,
              std::vector<std::string> words = {}) {
    std::vector<std::string> argv = {
        "new-window", "-d",       "-P", "-F", "#{pane_id}",
        "--",         rig_.self_, how,  what, fifo_.path()};
    for (const std::string& word : words) argv.push_back(tmux::Word(word));
    const std::string out = server_.Run(argv);
    return {.pane = out.substr(0, out.find('\n')),
            .answer = json::parse(fifo_.Next())};
  }

  // What is known of the host that runs in `opened`.
  v1::HostIdentity Identity(const Opened& opened) const {
    const std::string row = server_.Show(
        opened.pane, "#{session_id} #{window_id} #{pane_tty} #{pane_pid}");
    std::istringstream fields(row);
    v1::HostIdentity identity;
    v1::Pane& pane = *identity.mutable_pane();
    int64_t pid = 0;
    fields >> *pane.mutable_workspace() >> *pane.mutable_tab() >>
        *pane.mutable_terminal() >> pid;
    pane.set_launcher("tmux");
    pane.set_server(server_.socket());
    pane.set_pane(opened.pane);
    pane.set_pid(pid);
    identity.set_session_id("s");
    identity.set_host_pid(opened.answer["pid"].get<int64_t>());
    identity.set_host_start_ticks(StartTicksOf(identity.host_pid()));
    return identity;
  }

  static void EndHost(const v1::HostIdentity& identity) {
    kill(static_cast<pid_t>(identity.host_pid()), SIGKILL);
    Until([&] { return StartTicksOf(identity.host_pid()) == 0; });
  }

  std::string Write(const std::string& name, const std::string& text) const {
    const std::string path = rig_.temp_ / name;
    std::ofstream(path) << text;
    return path;
  }
  std::string WriteIdentity(const v1::HostIdentity& identity) const {
    return Write("identity", identity.DebugString());
  }

  PaneRig rig_;
  Fifo fifo_{rig_.temp_ / "fifo"};
  TmuxServer server_{rig_, rig_.temp_ / "sock", rig_.BaseEnvironment()};
  Surroundings around_ = rig_.Around({});
};

TEST_F(TmuxPaneTest, AHostKnowsItsPane) {
  const Opened opened = Open("--host", "own");
  ASSERT_EQ(opened.answer["status"], "OK");
  v1::Pane pane;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(
      opened.answer["pane"].get<std::string>(), &pane));
  EXPECT_EQ(pane.launcher(), "tmux");
  EXPECT_EQ(pane.server(), server_.socket());
  EXPECT_EQ(pane.pane(), opened.pane);
  EXPECT_EQ(pane.tab(), server_.Show(opened.pane, "#{window_id}"));
  EXPECT_EQ(pane.workspace(), server_.Show(opened.pane, "#{session_id}"));
  EXPECT_EQ(pane.terminal(), server_.Show(opened.pane, "#{pane_tty}"));
  EXPECT_EQ(std::to_string(pane.pid()),
            server_.Show(opened.pane, "#{pane_pid}"));
}

TEST_F(TmuxPaneTest, AHostBelowAShellKnowsThePaneAroundIt) {
  const Opened opened = Open("--child", "own");
  ASSERT_EQ(opened.answer["status"], "OK");
  EXPECT_THAT(opened.answer["pane"].get<std::string>(),
              HasSubstr("pane: \"" + opened.pane + "\""));
}

TEST_F(TmuxPaneTest, InheritedVariablesMakeNoPane) {
  // This test runs in no pane of that server.
  const auto pane = OwnPane(rig_.Around(server_.Inside()));
  ASSERT_THAT(pane, IsOk());
  EXPECT_THAT(pane->pane(), IsEmpty());
  EXPECT_THAT(OwnPane(around_)->pane(), IsEmpty());
}

TEST_F(TmuxPaneTest, APaneThatTheServerDoesNotKnowIsUnknown) {
  EXPECT_THAT(OwnPane(rig_.Around(server_.Inside("%99"))),
              FailsWith(absl::StatusCode::kUnavailable, "PANE_UNKNOWN"));
  EXPECT_THAT(OwnPane(rig_.Around({{"TMUX", (rig_.temp_ / "gone") + ",1,0"},
                                   {"TMUX_PANE", "%0"}})),
              FailsWith(absl::StatusCode::kUnavailable, "PANE_UNKNOWN"));
}

TEST_F(TmuxPaneTest, OfTwoNamedPanesTheOneThatContainsItCounts) {
  const HerdrStandIn herdr(rig_);
  for (const auto& [name, value] : herdr.Inside()) {
    if (name != "PATH") server_.Run({"set-environment", "-g", name, value});
  }
  const Opened opened = Open("--host", "own");
  ASSERT_EQ(opened.answer["status"], "OK");
  EXPECT_THAT(opened.answer["pane"].get<std::string>(),
              HasSubstr("launcher: \"tmux\""));
}

TEST_F(TmuxPaneTest, AWindowOfItsOwnGetsTheNameAndKeepsIt) {
  for (const std::string name : {"reviewer", "-x; #{pane_id};", "it's #S"}) {
    const Opened opened = Open("--host", "name", {name});
    EXPECT_EQ(opened.answer["status"], "OK");
    EXPECT_EQ(server_.Show(opened.pane, "#{window_name}"), name);
    EXPECT_EQ(server_.Show(opened.pane, "#{automatic-rename}"), "0");
  }
}

TEST_F(TmuxPaneTest, InASharedWindowOnlyThePaneIsNamed) {
  server_.Run({"rename-window", "-t", "%0", "mine"});
  const std::string active = server_.Show("mine", "#{pane_id}");
  const std::string pane =
      server_
          .Run({"split-window", "-d", "-t", "%0", "-P", "-F", "#{pane_id}",
                "--", rig_.self_, "--host", "name", fifo_.path(), "worker"})
          .substr(0, 2);
  EXPECT_EQ(json::parse(fifo_.Next())["status"], "OK");
  EXPECT_EQ(server_.Show("%0", "#{window_name}"), "mine");
  EXPECT_EQ(server_.Show(pane, "#{pane_title}"), "worker");
  EXPECT_EQ(server_.Show("%0", "#{pane_active}"), "1");
}

TEST_F(TmuxPaneTest, NamingWithoutAPaneIsHarmless) {
  EXPECT_THAT(NameOwnTab("x", rig_.Around(server_.Inside())), IsOk());
  EXPECT_EQ(server_.Show("%0", "#{automatic-rename}"), "1");
}

TEST_F(TmuxPaneTest, WhatIsStillTrueOfAHostIsConfirmed) {
  EXPECT_THAT(InspectHost(Identity(Open("--host", "facts")), around_), IsOk());
  EXPECT_THAT(InspectHost(Identity(Open("--child", "facts")), around_), IsOk());
}

TEST_F(TmuxPaneTest, AProcessThatEndedOrIsAnotherIsAMismatch) {
  const Opened opened = Open("--child", "facts");
  v1::HostIdentity identity = Identity(opened);
  identity.set_host_start_ticks(identity.host_start_ticks() + 1);
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("another one"));
  identity.set_host_start_ticks(0);
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("ended"));
  identity = Identity(opened);
  EndHost(identity);
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("ended"));
}

TEST_F(TmuxPaneTest, APaneThatWasMovedIsAMismatchAndStays) {
  const Opened opened = Open("--child", "facts");
  const v1::HostIdentity identity = Identity(opened);
  server_.Run({"join-pane", "-d", "-s", opened.pane, "-t", "%0"});
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("moved"));
  EndHost(identity);
  EXPECT_THAT(ClosePane(identity, around_), IsMismatch("moved"));
  EXPECT_TRUE(server_.HasPane(opened.pane));
}

TEST_F(TmuxPaneTest, APaneThatWasReplacedIsAMismatchAndStays) {
  const Opened opened = Open("--host", "facts");
  const v1::HostIdentity identity = Identity(opened);
  server_.Run({"respawn-pane", "-k", "-t", opened.pane, "--", "sleep", "1000"});
  ASSERT_TRUE(Until([&] { return StartTicksOf(identity.host_pid()) == 0; }));
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("ended"));
  EXPECT_THAT(ClosePane(identity, around_), IsMismatch("replaced"));
  EXPECT_TRUE(server_.HasPane(opened.pane));
}

TEST_F(TmuxPaneTest, AHostOfAnotherPaneIsAMismatch) {
  const v1::Pane another = Identity(Open("--host", "facts")).pane();
  v1::HostIdentity identity = Identity(Open("--host", "facts"));
  *identity.mutable_pane() = another;
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("does not run in"));
}

TEST_F(TmuxPaneTest, APaneThatIsGoneIsAMismatch) {
  v1::HostIdentity identity = Identity(Open("--host", "facts"));
  identity.mutable_pane()->set_pane("%77");
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("not there any more"));
}

TEST_F(TmuxPaneTest, ASessionFileMustBeginAsThatSession) {
  v1::HostIdentity identity = Identity(Open("--host", "facts"));
  identity.set_session_file(Write("good", R"({"type":"session","id":"s"})"
                                          "\n"));
  EXPECT_THAT(InspectHost(identity, around_), IsOk());
  identity.set_session_file(Write("other", R"({"type":"session","id":"t"})"));
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("does not begin"));
  identity.set_session_file(rig_.temp_ / "none");
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("does not begin"));
}

TEST_F(TmuxPaneTest, AHostWithoutAPaneIsItsProcessAndFile) {
  v1::HostIdentity identity = Identity(Open("--host", "facts"));
  identity.clear_pane();
  EXPECT_THAT(InspectHost(identity, around_), IsOk());
  EndHost(identity);
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("ended"));
  EXPECT_TRUE(*ClosePane(identity, around_));
}

// A process that closes may not close, or trust, the pane that it runs in.
TEST_F(TmuxPaneTest, ItsOwnPaneIsNeverClosed) {
  // The pane of the shell that is to inspect is named as another host's.
  const Fifo orders(rig_.temp_ / "orders");
  const std::string shell =
      server_
          .Run({"new-window", "-d", "-P", "-F", "#{pane_id}", "--", "/bin/sh",
                "-c", "while read -r line; do eval \"$line\"; done <\"$0\"",
                orders.path()})
          .substr(0, 2);
  v1::HostIdentity identity = Identity({.pane = shell, .answer = {{"pid", 0}}});
  identity.set_host_pid(identity.pane().pid());
  identity.set_host_start_ticks(StartTicksOf(identity.host_pid()));
  std::ofstream(orders.path())
      << "'" << rig_.self_ << "' --host inspect '" << fifo_.path() << "' '"
      << WriteIdentity(identity) << "' &" << std::endl;
  EXPECT_THAT(json::parse(fifo_.Next())["status"].get<std::string>(),
              HasSubstr("itself runs in"));
  identity.set_host_pid(1 << 22);  // No such process: the host has ended.
  std::ofstream(orders.path())
      << "'" << rig_.self_ << "' --host close '" << fifo_.path() << "' '"
      << WriteIdentity(identity) << "' &" << std::endl;
  EXPECT_THAT(json::parse(fifo_.Next())["status"].get<std::string>(),
              HasSubstr("itself runs in"));
  EXPECT_TRUE(server_.HasPane(shell));
}

TEST_F(TmuxPaneTest, ThePaneOfAnEndedHostClosesAndNoOther) {
  const Opened other = Open("--child", "facts");
  const Opened opened = Open("--child", "facts");
  const v1::HostIdentity identity = Identity(opened);
  EndHost(identity);
  ASSERT_TRUE(server_.HasPane(opened.pane));
  const auto closed = ClosePane(identity, around_);
  ASSERT_THAT(closed, IsOk());
  EXPECT_TRUE(*closed);
  EXPECT_FALSE(server_.HasPane(opened.pane));
  EXPECT_TRUE(server_.HasPane(other.pane));
  EXPECT_TRUE(server_.HasPane("%0"));
}

TEST_F(TmuxPaneTest, APaneThatStaysAfterItsHostIsClosed) {
  server_.Run({"set-option", "-g", "remain-on-exit", "on"});
  const Opened opened = Open("--host", "facts");
  const v1::HostIdentity identity = Identity(opened);
  EndHost(identity);
  ASSERT_TRUE(server_.HasPane(opened.pane));
  const auto closed = ClosePane(identity, around_);
  ASSERT_THAT(closed, IsOk());
  EXPECT_TRUE(*closed);
  EXPECT_FALSE(server_.HasPane(opened.pane));
}

TEST_F(TmuxPaneTest, APaneThatIsGoneAlreadyIsClosed) {
  const Opened opened = Open("--host", "facts");
  const v1::HostIdentity identity = Identity(opened);
  EndHost(identity);
  ASSERT_TRUE(Until([&] { return !server_.HasPane(opened.pane); }));
  EXPECT_TRUE(*ClosePane(identity, around_));
}

TEST_F(TmuxPaneTest, APaneWhoseServerIsGoneIsClosed) {
  const v1::HostIdentity identity = Identity(Open("--host", "facts"));
  server_.Run({"kill-server"});
  ASSERT_TRUE(Until([&] { return !SomebodyListens(server_.socket()); }));
  EXPECT_TRUE(*ClosePane(identity, around_));
}

TEST_F(TmuxPaneTest, AHostThatRunsIsNeverClosed) {
  const Opened opened = Open("--host", "facts");
  EXPECT_THAT(ClosePane(Identity(opened), around_), IsMismatch("still runs"));
  EXPECT_TRUE(server_.HasPane(opened.pane));
}

TEST_F(TmuxPaneTest, AYoungerProcessOfTheSameNumberIsNotThePanes) {
  const Opened opened = Open("--host", "facts");
  v1::HostIdentity identity = Identity(opened);
  // As if the host had ended long before the pane's process began.
  identity.set_host_pid(1 << 22);
  identity.set_host_start_ticks(1);
  EXPECT_THAT(ClosePane(identity, around_), IsMismatch("younger"));
  EXPECT_TRUE(server_.HasPane(opened.pane));
}

TEST_F(TmuxPaneTest, AnotherHostsMarkOnAPaneIsAMismatch) {
  const Opened opened = Open("--host", "facts");
  const v1::HostIdentity identity = Identity(opened);
  server_.Run({"set-option", "-p", "-t", opened.pane, "@intercom_host", "1.2"});
  EXPECT_THAT(InspectHost(identity, around_), IsMismatch("another host"));
}

TEST_F(TmuxPaneTest, ALaunchedHostIsInspectedAndItsPaneGoesWithIt) {
  const Launch launch =
      StartHost(rig_.Plan("tmux", "app", fifo_), rig_.Around(server_.Inside()));
  ASSERT_THAT(launch.status, IsOk());
  fifo_.Next();
  v1::HostIdentity identity;
  *identity.mutable_pane() = launch.pane;
  identity.set_host_pid(launch.host_pid);
  identity.set_host_start_ticks(launch.host_start_ticks);
  EXPECT_THAT(InspectHost(identity, around_), IsOk());
  EndHost(identity);
  EXPECT_TRUE(*ClosePane(identity, around_));
  EXPECT_FALSE(server_.HasPane(launch.pane.pane()));
}

TEST_F(TmuxPaneTest, WithoutTmuxThePaneIsUnknown) {
  const Opened opened = Open("--child", "facts");
  const v1::HostIdentity identity = Identity(opened);
  const Surroundings none = rig_.Around({{"PATH", rig_.temp_.path().string()}});
  EXPECT_THAT(InspectHost(identity, none),
              FailsWith(absl::StatusCode::kUnavailable, "PANE_UNKNOWN"));
  EndHost(identity);
  EXPECT_THAT(ClosePane(identity, none),
              FailsWith(absl::StatusCode::kUnavailable, "PANE_UNKNOWN"));
  EXPECT_TRUE(server_.HasPane(opened.pane));
}

}  // namespace
}  // namespace intercom
