#include <string>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/herdr_client.h"
#include "worker-agent/launch/herdr_requests.h"
#include "worker-agent/launch/herdr_shell.h"
#include "worker-agent/launch/launch_file.h"
#include "worker-agent/launch/launchers.h"

namespace intercom {
namespace {

using Json = nlohmann::json;

// Whether Herdr surely did nothing.
bool DidNothing(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsFailedPrecondition(status);
}

absl::Status Failure(const absl::Status& status) {
  if (!absl::IsNotFound(status)) return LaunchFailed(status);
  return LauncherUnavailable(MessageOf(status) + "; start Herdr, " +
                             OtherLauncher("tmux"));
}

std::string Where(const v1::Pane& pane) {
  return "Herdr tab " + SafeLabel(pane.tab()) + " of workspace " +
         SafeLabel(pane.workspace());
}

// What the answer to a new tab left out. Without it the launch is no worse.
void Complete(Launch& launch, const HerdrClient& client) {
  if (const auto answer = client.Ask(herdr::GetPane(launch.pane.pane()));
      answer.ok()) {
    if (const auto pane = herdr::ParsePane(*answer); pane.ok()) {
      launch.pane.set_terminal(pane->terminal());
    }
  }
  if (const auto answer = client.Ask(herdr::ProcessInfo(launch.pane.pane()));
      answer.ok()) {
    if (const auto processes = herdr::ParseProcesses(*answer); processes.ok()) {
      launch.pane.set_pid(processes->shell_pid);
    }
  }
}

// Herdr spawns the agent itself. False: this Herdr does not know how.
bool LaunchByLayout(const LaunchPlan& plan, const LaunchTools& tools,
                    const HerdrClient& client, const std::string& workspace,
                    Launch& launch) {
  const absl::StatusOr<Json> answer = client.Ask(herdr::ApplyLayout(
      workspace, plan.directory, plan.title, tools.command, plan.focus));
  if (ReasonOf(answer.status()) == "HERDR_INVALID_REQUEST") return false;
  // The socket went away meanwhile.
  if (absl::IsNotFound(answer.status())) return false;
  if (!answer.ok()) {
    launch = NotLaunched(Failure(answer.status()));
    if (!DidNothing(answer.status())) {
      launch.detail = "Herdr may have opened a tab";
    }
    return true;
  }
  const auto pane = herdr::ParseNewPane(*answer);
  if (!pane.ok()) {
    launch.status = LaunchFailed(pane.status());
    launch.detail = "Herdr opened a tab";
    return true;
  }
  launch.pane = *pane;
  launch.pane.set_server(client.socket());
  launch.detail = Where(*pane);
  Complete(launch, client);
  SetHost(launch, launch.pane.pid());
  return true;
}

// Types the start of a script into the shell of a new tab.
Launch LaunchByTyping(const LaunchPlan& plan, const LaunchTools& tools,
                      const HerdrClient& client, const std::string& workspace) {
  absl::StatusOr<LaunchFile> script =
      LaunchFile::WriteScript(tools.around.home, tools.around.agent_path,
                              tools.command.back(), tools.random);
  if (!script.ok()) return NotLaunched(script.status());
  const absl::StatusOr<Json> answer = client.Ask(
      herdr::CreateTab(workspace, plan.directory, plan.title, plan.focus));
  if (!answer.ok()) {
    // A tab alone starts nothing.
    Launch launch = NotLaunched(Failure(answer.status()));
    if (!DidNothing(answer.status())) {
      launch.detail = "Herdr may have made an empty tab, which stays";
    }
    return launch;
  }
  Launch launch;
  const auto pane = herdr::ParseNewPane(*answer);
  launch.status =
      pane.ok() ? AwaitHerdrShell(*pane, tools.runner, client) : pane.status();
  if (pane.ok()) {
    launch.pane = *pane;
    launch.pane.set_server(client.socket());
  }
  if (!launch.status.ok()) {
    launch.status = LaunchFailed(launch.status);
    launch.detail =
        (pane.ok() ? Where(*pane) : std::string("a new Herdr tab")) +
        " was made and stays; nothing was started in it";
    return launch;
  }
  const absl::Status typed =
      client.Ask(herdr::RunLine(pane->pane(), "exec /bin/sh " + script->path()))
          .status();
  // Typed text may be lost without a word: only the taken order shows that it
  // arrived.
  if ((typed.ok() || !DidNothing(typed)) &&
      AwaitOrderTaken(tools.command.back(), tools.runner)) {
    script->Keep();
    Complete(launch, client);
    SetHost(launch, launch.pane.pid());
    launch.detail = Where(*pane) +
                    "; the start was typed into its shell, since this Herdr "
                    "spawns nothing itself";
    return launch;
  }
  launch.status = typed.ok() ? LaunchFailed(
                                   "what was typed into the shell of the new "
                                   "Herdr tab did not arrive")
                             : LaunchFailed(typed);
  launch.detail = Where(*pane) + " was made and stays";
  return launch;
}

}  // namespace

Launch LaunchInHerdr(const LaunchPlan& plan, const LaunchTools& tools) {
  const std::string workspace =
      ValueOf(tools.around.environment, "HERDR_WORKSPACE_ID");
  const std::string mark = ValueOf(tools.around.environment, "HERDR_ENV");
  if (mark != "1" || workspace.empty()) {
    // Only one of them is worth a word: something has changed it.
    const char* const odd = mark == "1" ? " (HERDR_WORKSPACE_ID is missing)"
                            : !workspace.empty() ? " (HERDR_ENV is not 1)"
                                                 : "";
    return NotLaunched(LauncherUnavailable(
        std::string("this session does not run in a Herdr pane") + odd +
        "; start the coordinator in Herdr, " + OtherLauncher("tmux")));
  }
  const HerdrClient client(tools.runner, "");
  Launch launch;
  if (client.HasSocket() &&
      LaunchByLayout(plan, tools, client, workspace, launch)) {
    return launch;
  }
  return LaunchByTyping(plan, tools, client, workspace);
}

}  // namespace intercom
