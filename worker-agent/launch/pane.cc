#include "worker-agent/launch/pane.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/process.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/herdr_requests.h"
#include "worker-agent/launch/launchers.h"
#include "worker-agent/launch/multiplexer.h"
#include "worker-agent/launch/session_header.h"
#include "worker-agent/launch/tmux_commands.h"

namespace intercom {
namespace {

using Found = Multiplexer::Found;

constexpr CommandRunner::Limits kLimits = {.time = absl::Seconds(10)};
// A host that said goodbye needs a moment to end.
constexpr int kEndMilliseconds = 1500;
constexpr absl::Duration kLookEvery = absl::Milliseconds(50);

absl::Status Mismatch(const std::string& why) {
  return Error(absl::StatusCode::kFailedPrecondition, "IDENTITY_MISMATCH", why);
}

std::unique_ptr<Multiplexer> MultiplexerOf(const v1::Pane& pane,
                                           const CommandRunner& runner) {
  if (pane.launcher() == kHeadlessLauncher) return MakeHeadless(pane.server());
  return pane.launcher() == "tmux" ? MakeTmux(runner, pane.server())
                                   : MakeHerdr(runner, pane.server());
}

bool IsKnown(const v1::Pane& pane) {
  return pane.launcher() == "tmux" || pane.launcher() == "herdr" ||
         pane.launcher() == kHeadlessLauncher;
}

bool Runs(int64_t pid, int64_t start_ticks) {
  return pid > 0 && start_ticks != 0 && StartTicksOf(pid) == start_ticks;
}

// How far above `pid` its ancestor `pane_pid` is; nullopt if it is none.
std::optional<size_t> Distance(int64_t pid, int64_t pane_pid) {
  const std::vector<int64_t> ancestry = Ancestry(pid);
  const auto found = std::find(ancestry.begin(), ancestry.end(), pane_pid);
  if (pane_pid <= 1 || found == ancestry.end()) return std::nullopt;
  return static_cast<size_t>(found - ancestry.begin());
}

// The panes that this process's variables name. Variables are inherited by what
// runs elsewhere too, so each has to be checked.
std::vector<v1::Pane> NamedPanes(const Environment& environment) {
  std::vector<v1::Pane> panes;
  const std::string herdr_pane = ValueOf(environment, "HERDR_PANE_ID");
  if (ValueOf(environment, "HERDR_ENV") == "1" && !herdr_pane.empty()) {
    v1::Pane& pane = panes.emplace_back();
    pane.set_launcher("herdr");
    pane.set_server(herdr::SocketPath(environment));
    pane.set_pane(herdr_pane);
  }
  const std::string tmux_pane = ValueOf(environment, "TMUX_PANE");
  const std::string socket = tmux::SocketOf(ValueOf(environment, "TMUX"));
  if (!socket.empty() && !tmux_pane.empty()) {
    v1::Pane& pane = panes.emplace_back();
    pane.set_launcher("tmux");
    pane.set_server(socket);
    pane.set_pane(tmux_pane);
  }
  const std::string hosted = ValueOf(environment, kHeadlessSocketVariable);
  if (!hosted.empty()) {
    v1::Pane& pane = panes.emplace_back();
    pane.set_launcher(kHeadlessLauncher);
    pane.set_server(hosted);
    pane.set_pane(std::filesystem::path(hosted).stem());
  }
  return panes;
}

// The innermost of the panes that really contain this process.
absl::StatusOr<std::optional<Found>> FindOwn(const Surroundings& around,
                                             const CommandRunner& runner) {
  std::optional<Found> own;
  size_t own_distance = 0;
  absl::Status silent;
  for (const v1::Pane& named : NamedPanes(around.environment)) {
    auto found = MultiplexerOf(named, runner)->Find(named);
    if (!found.ok() || !found->has_value()) {
      silent = found.ok() ? PaneUnknown(named.launcher() + " does not know " +
                                        SafeLabel(named.pane()) +
                                        ", in which this session is to run")
                          : found.status();
      continue;
    }
    const auto distance = Distance(getpid(), (*found)->pane.pid());
    if (distance.has_value() &&
        (!own.has_value() || *distance < own_distance)) {
      own = **found;
      own_distance = *distance;
    }
  }
  if (!own.has_value() && !silent.ok()) return silent;
  return own;
}

// OK if `found` is the pane that `identity` names.
absl::Status CheckSame(const v1::HostIdentity& identity, const Found& found) {
  const v1::Pane& then = identity.pane();
  const v1::Pane& now = found.pane;
  const std::string pane = "pane " + SafeLabel(then.pane());
  if (Distance(getpid(), now.pid()).has_value()) {
    return Mismatch(pane + " is the one that this session itself runs in");
  }
  if (now.workspace() != then.workspace() || now.tab() != then.tab()) {
    return Mismatch(pane + " was moved: it is in " + now.workspace() + " " +
                    now.tab() + ", not in " + then.workspace() + " " +
                    then.tab());
  }
  // Herdr may give a pane another terminal when it is upgraded; its process
  // stays.
  if (now.pid() != then.pid() && !(found.dead && now.pid() == 0)) {
    return Mismatch(pane + " was replaced: its process is " +
                    std::to_string(now.pid()) + ", not " +
                    std::to_string(then.pid()));
  }
  if (!found.dead && StartTicksOf(now.pid()) > identity.host_start_ticks()) {
    return Mismatch(pane + " was replaced: its process " +
                    std::to_string(now.pid()) +
                    " is younger than the host that it contained");
  }
  const std::string mark =
      tmux::HostMark(identity.host_pid(), identity.host_start_ticks());
  if (now.pid() == identity.host_pid() && !found.host_mark.empty() &&
      found.host_mark != mark) {
    return Mismatch(pane + " was replaced: another host was launched in it");
  }
  return absl::OkStatus();
}

absl::Status CheckSessionFile(const v1::HostIdentity& identity) {
  if (identity.session_file().empty()) return absl::OkStatus();
  const auto header = ReadSessionHeader(identity.session_file());
  if (header.has_value() && header->id == identity.session_id()) {
    return absl::OkStatus();
  }
  return Mismatch("the file " + StripControls(identity.session_file()) +
                  " does not begin as session " +
                  SafeLabel(identity.session_id()));
}

// Whether the process has ended, at the latest after kEndMilliseconds.
bool AwaitEnd(int64_t pid, int64_t start_ticks) {
  const int fd =
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  if (fd >= 0) {
    pollfd ended{fd, POLLIN, 0};
    if (Runs(pid, start_ticks)) poll(&ended, 1, kEndMilliseconds);
    close(fd);
  }
  return !Runs(pid, start_ticks);
}

}  // namespace

absl::StatusOr<v1::Pane> OwnPane(const Surroundings& around) {
  const SystemClock clock;
  const CommandRunner runner(clock, around.environment, kLimits);
  INTERCOM_ASSIGN_OR_RETURN(const std::optional<Found> own,
                            FindOwn(around, runner));
  return own.has_value() ? own->pane : v1::Pane();
}

absl::Status InspectHost(const v1::HostIdentity& identity,
                         const Surroundings& around) {
  if (!Runs(identity.host_pid(), identity.host_start_ticks())) {
    return Mismatch("process " + std::to_string(identity.host_pid()) +
                    " has ended, or is another one by now");
  }
  if (IsKnown(identity.pane())) {
    const SystemClock clock;
    const CommandRunner runner(clock, around.environment, kLimits);
    INTERCOM_ASSIGN_OR_RETURN(
        const std::optional<Found> found,
        MultiplexerOf(identity.pane(), runner)->Find(identity.pane()));
    if (!found.has_value()) {
      return Mismatch("pane " + SafeLabel(identity.pane().pane()) +
                      " is not there any more");
    }
    INTERCOM_RETURN_IF_ERROR(CheckSame(identity, *found));
    if (!Distance(identity.host_pid(), found->pane.pid()).has_value()) {
      return Mismatch("process " + std::to_string(identity.host_pid()) +
                      " does not run in pane " +
                      SafeLabel(identity.pane().pane()));
    }
  }
  return CheckSessionFile(identity);
}

absl::StatusOr<bool> ClosePane(const v1::HostIdentity& identity,
                               const Surroundings& around) {
  if (!AwaitEnd(identity.host_pid(), identity.host_start_ticks())) {
    return Mismatch("process " + std::to_string(identity.host_pid()) +
                    " still runs; its pane stays");
  }
  if (!IsKnown(identity.pane())) return true;
  const SystemClock clock;
  const CommandRunner runner(clock, around.environment, kLimits);
  const auto multiplexer = MultiplexerOf(identity.pane(), runner);
  INTERCOM_ASSIGN_OR_RETURN(std::optional<Found> found,
                            multiplexer->Find(identity.pane()));
  if (!found.has_value()) return true;
  INTERCOM_RETURN_IF_ERROR(CheckSame(identity, *found));
  const absl::Status closed = multiplexer->Close(found->pane);
  while (true) {
    const auto now = multiplexer->Find(identity.pane());
    if (now.ok() && !now->has_value()) return true;
    if (!closed.ok()) return closed;
    if (runner.TimeLeft() <= absl::ZeroDuration()) return false;
    runner.Pause(kLookEvery);
  }
}

absl::Status NameOwnTab(const std::string& name, const Surroundings& around) {
  const SystemClock clock;
  const CommandRunner runner(clock, around.environment, kLimits);
  INTERCOM_ASSIGN_OR_RETURN(const std::optional<Found> own,
                            FindOwn(around, runner));
  if (!own.has_value()) return absl::OkStatus();
  return MultiplexerOf(own->pane, runner)->Name(*own, SafeLabel(name));
}

}  // namespace intercom
