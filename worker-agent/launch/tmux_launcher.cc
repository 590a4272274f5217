#include <string>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/launchers.h"
#include "worker-agent/launch/multiplexer.h"
#include "worker-agent/launch/tmux_commands.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

constexpr int kMaxSessionsOfAName = 100;

std::string Said(const CommandOutput& output) {
  return "tmux said: " + SafeLabel(output.err, 300);
}

// Runs tmux to make a window, and tells what came of it.
Launch Make(const tmux::Argv& argv, const CommandRunner& runner,
            tmux::Created& created) {
  const absl::StatusOr<CommandOutput> output = runner.Run(argv);
  if (absl::IsNotFound(output.status())) {
    return NotLaunched(LauncherUnavailable(MessageOf(output.status()) +
                                           "; install tmux, " +
                                           OtherLauncher("herdr")));
  }
  if (output.ok() && output->exit_code != 0) {
    return NotLaunched(LaunchFailed(Said(*output)));
  }
  Launch launch;
  if (!output.ok()) {
    launch.status = LaunchFailed(output.status());
  } else if (auto parsed = tmux::ParseCreated(output->out); parsed.ok()) {
    created = *std::move(parsed);
    launch.pane = created.pane;
  } else {
    launch.status = LaunchFailed(parsed.status());
  }
  if (!launch.status.ok()) launch.detail = "tmux may have opened a window";
  return launch;
}

// The title stays, and the pane carries the host's mark. What fails here fails
// no launch.
void Finish(Launch& launch, const CommandRunner& runner) {
  SetHost(launch, launch.pane.pid());
  const auto settled = runner.Run(tmux::Settle(
      launch.pane, tmux::HostMark(launch.host_pid, launch.host_start_ticks)));
  if (!settled.ok()) {
    launch.detail += "; its title may change: " + MessageOf(settled.status());
  } else if (settled->exit_code != 0) {
    launch.detail += "; it may have ended already: " + Said(*settled);
  }
}

// The session that shows this process's pane, on the server of $TMUX.
std::string OwnSession(const Surroundings& around, const CommandRunner& runner,
                       const std::string& socket) {
  v1::Pane own;
  own.set_pane(ValueOf(around.environment, "TMUX_PANE"));
  const auto found = MakeTmux(runner, socket)->Find(own);
  if (found.ok() && found->has_value()) return (*found)->pane.workspace();
  return tmux::SessionOf(ValueOf(around.environment, "TMUX"));
}

absl::Status ServerGone(const std::string& socket) {
  return LauncherUnavailable("the tmux server that TMUX names (" +
                             SafeLabel(socket, 200) +
                             ") is gone; start the coordinator in a tmux that "
                             "runs, or without TMUX; " +
                             OtherLauncher("herdr"));
}

Launch InNewWindow(const LaunchPlan& plan, const LaunchTools& tools) {
  const std::string socket =
      tmux::SocketOf(ValueOf(tools.around.environment, "TMUX"));
  if (!SomebodyListens(socket)) return NotLaunched(ServerGone(socket));
  const std::string session = OwnSession(tools.around, tools.runner, socket);
  tmux::Created created;
  Launch launch = Make(
      tmux::NewWindow(socket, session, plan.title, tools.command, plan.focus),
      tools.runner, created);
  if (!launch.status.ok() && !SomebodyListens(socket)) {
    launch.status = ServerGone(socket);
  }
  if (!launch.pane.pane().empty()) {
    launch.detail = "tmux window " + created.window_index + " of session " +
                    SafeLabel(created.session_name);
    Finish(launch, tools.runner);
  }
  return launch;
}

Launch InNewSession(const LaunchPlan& plan, const LaunchTools& tools) {
  // A server may be started by this, and lasts, whatever guards this session.
  Environment environment =
      WithoutSession(tools.around.environment, NotInherited("herdr"));
  environment["PI_INTERCOM_OUTLIVES"] = "1";
  const CommandRunner runner = tools.runner.With(std::move(environment));
  std::string directory = ValueOf(plan.environment, "PI_INTERCOM_WORKSPACE");
  if (directory.empty()) directory = plan.directory;
  for (int attempt = 1; attempt <= kMaxSessionsOfAName; ++attempt) {
    const std::string name = tmux::SessionName(directory, attempt);
    const auto taken = runner.Run(tmux::HasSession("", name));
    if (taken.ok() && taken->exit_code == 0) continue;
    tmux::Created created;
    Launch launch = Make(
        tmux::NewSession("", name, plan.directory, plan.title, tools.command),
        runner, created);
    if (!launch.status.ok() && launch.detail.empty()) {
      // Another launch may have been quicker.
      const auto now = runner.Run(tmux::HasSession("", name));
      if (now.ok() && now->exit_code == 0) continue;
    }
    if (!launch.pane.pane().empty()) {
      launch.detail =
          "a tmux session of its own; see it with: tmux attach -t " +
          created.session_name;
      Finish(launch, runner);
    }
    return launch;
  }
  return NotLaunched(
      LaunchFailed("there are " + std::to_string(kMaxSessionsOfAName) +
                   " tmux sessions named " + tmux::SessionName(directory, 1) +
                   " already; close some with tmux kill-session"));
}

}  // namespace

Launch LaunchInTmux(const LaunchPlan& plan, const LaunchTools& tools) {
  return ValueOf(tools.around.environment, "TMUX").empty()
             ? InNewSession(plan, tools)
             : InNewWindow(plan, tools);
}

}  // namespace intercom
