#include "worker-agent/launch/monitor_pane.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/random.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/herdr_client.h"
#include "worker-agent/launch/herdr_shell.h"
#include "worker-agent/launch/launch_file.h"
#include "worker-agent/launch/launchers.h"
#include "worker-agent/launch/multiplexer.h"
#include "worker-agent/launch/tmux_commands.h"

namespace intercom {
namespace {

using Stage = v1::MonitorPane;

constexpr CommandRunner::Limits kLimits = {.time = absl::Seconds(10)};
constexpr char kTitle[] = "intercom monitor";
// What the terminal shows depends on them, and the multiplexer's server may
// have been started without.
constexpr const char* kInherited[] = {"LANG",     "LC_ALL",  "LC_CTYPE",
                                      "NO_COLOR", "TZ",      "HOME",
                                      "PATH",     "LC_TIME", "XDG_RUNTIME_DIR"};

// The monitor is started as a host is: the agent becomes it.
absl::StatusOr<LaunchFile> WriteOrder(const v1::MonitorPane& claim,
                                      const Surroundings& around,
                                      Random& random) {
  const std::string program =
      std::filesystem::path(around.agent_path).parent_path() / "intercom";
  if (access(program.c_str(), X_OK) != 0) {
    return Error(absl::StatusCode::kFailedPrecondition, "PROGRAM_MISSING",
                 "the monitor's program is not at " + program);
  }
  LaunchOrder order;
  order.argv = {program, "monitor", "--workspace", claim.workspace_root()};
  order.directory = claim.workspace_root();
  order.unset = NotInherited(claim.caller().launcher());
  for (const char* name : kInherited) {
    const std::string value = ValueOf(around.environment, name);
    if (!value.empty()) order.environment[name] = value;
  }
  order.environment["PI_INTERCOM_HOME"] = around.home;
  order.environment["PI_INTERCOM_MONITOR_CLAIM"] = claim.claim_id();
  return LaunchFile::Write(around.home, order, random);
}

std::vector<std::string> CommandOf(const LaunchFile& order,
                                   const Surroundings& around) {
  return {around.agent_path, "--launch", order.path()};
}

absl::StatusOr<MonitorStep> OpenInTmux(const v1::MonitorPane& claim,
                                       const Surroundings& around,
                                       const CommandRunner& runner,
                                       Random& random) {
  INTERCOM_ASSIGN_OR_RETURN(LaunchFile order,
                            WriteOrder(claim, around, random));
  INTERCOM_ASSIGN_OR_RETURN(
      const CommandOutput output,
      runner.Run(tmux::SplitAbove(claim.caller(), claim.workspace_root(),
                                  CommandOf(order, around))));
  if (output.exit_code != 0) {
    return LaunchFailed("tmux said: " + SafeLabel(output.err, 300));
  }
  INTERCOM_ASSIGN_OR_RETURN(const tmux::Created created,
                            tmux::ParseCreated(output.out));
  order.Keep();
  return MonitorStep{Stage::STAGE_SUBMITTED, created.pane};
}

// The pane that was split off, with its process.
absl::StatusOr<v1::Pane> FindHerdrPane(const std::string& id,
                                       const std::string& server,
                                       const CommandRunner& runner) {
  v1::Pane wanted;
  wanted.set_pane(id);
  INTERCOM_ASSIGN_OR_RETURN(const std::optional<Multiplexer::Found> found,
                            MakeHerdr(runner, server)->Find(wanted));
  if (!found.has_value()) {
    return LaunchFailed("the new Herdr pane " + SafeLabel(id) + " is gone");
  }
  return found->pane;
}

absl::Status RunInHerdr(const v1::MonitorPane& claim,
                        const Surroundings& around, const HerdrClient& client,
                        const CommandRunner& runner, Random& random) {
  INTERCOM_ASSIGN_OR_RETURN(LaunchFile order,
                            WriteOrder(claim, around, random));
  INTERCOM_ASSIGN_OR_RETURN(
      LaunchFile script, LaunchFile::WriteScript(around.home, around.agent_path,
                                                 order.path(), random));
  INTERCOM_RETURN_IF_ERROR(AwaitHerdrShell(claim.pane(), runner, client));
  INTERCOM_RETURN_IF_ERROR(
      client
          .Ask(herdr::RunLine(claim.pane().pane(),
                              "exec /bin/sh " + script.path()))
          .status());
  if (!AwaitOrderTaken(order.path(), runner)) {
    return LaunchFailed(
        "what was typed into the shell of the new Herdr pane did not arrive");
  }
  order.Keep();
  script.Keep();
  return absl::OkStatus();
}

absl::StatusOr<MonitorStep> StepInHerdr(const v1::MonitorPane& claim,
                                        const Surroundings& around,
                                        const CommandRunner& runner,
                                        Random& random) {
  const HerdrClient client(runner, claim.caller().server());
  const std::string& caller = claim.caller().pane();
  MonitorStep step{Stage::STAGE_UNSPECIFIED, claim.pane()};
  switch (claim.stage()) {
    case Stage::STAGE_SPLIT_PENDING: {
      INTERCOM_ASSIGN_OR_RETURN(
          const nlohmann::json answer,
          client.Ask(herdr::SplitPane(caller, claim.workspace_root())));
      INTERCOM_ASSIGN_OR_RETURN(const v1::Pane pane, herdr::ParsePane(answer));
      INTERCOM_ASSIGN_OR_RETURN(
          step.pane, FindHerdrPane(pane.pane(), client.socket(), runner));
      step.stage = Stage::STAGE_RENAME_PENDING;
      return step;
    }
    case Stage::STAGE_RENAME_PENDING:
      INTERCOM_RETURN_IF_ERROR(
          client.Ask(herdr::RenamePane(claim.pane().pane(), kTitle)).status());
      step.stage = Stage::STAGE_SWAP_PENDING;
      return step;
    case Stage::STAGE_SWAP_PENDING:
      INTERCOM_RETURN_IF_ERROR(
          client.Ask(herdr::SwapPanes(claim.pane().pane(), caller)).status());
      step.stage = Stage::STAGE_RUN_PENDING;
      return step;
    case Stage::STAGE_RUN_PENDING:
      INTERCOM_RETURN_IF_ERROR(
          RunInHerdr(claim, around, client, runner, random));
      step.stage = Stage::STAGE_SUBMITTED;
      return step;
    default:
      return LaunchFailed("the pane's record is at no step");
  }
}

}  // namespace

absl::StatusOr<MonitorStep> DoMonitorStep(const v1::MonitorPane& claim,
                                          const Surroundings& around) {
  const SystemClock clock;
  SystemRandom random;
  const CommandRunner runner(clock, WithoutSession(around.environment, {}),
                             kLimits);
  return claim.caller().launcher() == "tmux"
             ? OpenInTmux(claim, around, runner, random)
             : StepInHerdr(claim, around, runner, random);
}

absl::StatusOr<bool> IsMonitorThere(const v1::Pane& pane,
                                    const Surroundings& around) {
  // Its opener ended before it said where.
  if (pane.pane().empty()) return false;
  const SystemClock clock;
  const CommandRunner runner(clock, around.environment, kLimits);
  const auto multiplexer = pane.launcher() == "tmux"
                               ? MakeTmux(runner, pane.server())
                               : MakeHerdr(runner, pane.server());
  INTERCOM_ASSIGN_OR_RETURN(const std::optional<Multiplexer::Found> found,
                            multiplexer->Find(pane));
  return found.has_value() && !found->dead && found->pane.pid() == pane.pid();
}

}  // namespace intercom
