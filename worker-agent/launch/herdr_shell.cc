#include "worker-agent/launch/herdr_shell.h"

#include <unistd.h>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "worker-agent/launch/herdr_requests.h"

namespace intercom {
namespace {

constexpr absl::Duration kLookEvery = absl::Milliseconds(100);
// How long a typed line may take to run.
constexpr absl::Duration kTypedTime = absl::Seconds(10);

}  // namespace

absl::Status AwaitHerdrShell(const v1::Pane& pane, const CommandRunner& runner,
                             const HerdrClient& client) {
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const nlohmann::json answer,
                              client.Ask(herdr::ProcessInfo(pane.pane())));
    INTERCOM_ASSIGN_OR_RETURN(const herdr::Processes processes,
                              herdr::ParseProcesses(answer));
    if (processes.shell_pid != 0 &&
        processes.shell_pid == processes.foreground_group) {
      return absl::OkStatus();
    }
    if (runner.TimeLeft() <= absl::ZeroDuration()) {
      return Error(absl::StatusCode::kDeadlineExceeded, "LAUNCH_TIMED_OUT",
                   "the shell in the new pane was not ready in time");
    }
    runner.Pause(kLookEvery);
  }
}

bool AwaitOrderTaken(const std::string& path, const CommandRunner& runner) {
  const absl::Duration end = runner.TimeLeft() - kTypedTime;
  while (access(path.c_str(), F_OK) == 0) {
    const absl::Duration left = runner.TimeLeft();
    if (left <= end || left <= absl::ZeroDuration()) return false;
    runner.Pause(kLookEvery);
  }
  return true;
}

}  // namespace intercom
