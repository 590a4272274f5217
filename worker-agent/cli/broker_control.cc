#include "worker-agent/cli/broker_control.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/lock_file.h"

namespace intercom {
namespace {

// Debian 12's C library has no wrappers for these.
int OpenProcess(pid_t pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}
int SignalProcess(int pidfd, int number) {
  return static_cast<int>(
      syscall(SYS_pidfd_send_signal, pidfd, number, nullptr, 0));
}

// Whether the process ended within `timeout`.
bool AwaitEnd(int pidfd, absl::Duration timeout) {
  const SystemClock clock;
  const absl::Duration deadline = clock.Steady() + timeout;
  while (true) {
    const int64_t left = std::max<int64_t>(
        0, absl::ToInt64Milliseconds(deadline - clock.Steady()));
    pollfd descriptor{pidfd, POLLIN, 0};
    const int ready = poll(&descriptor, 1, static_cast<int>(left));
    if (ready > 0) return true;
    if (ready == 0 || errno != EINTR) return false;
  }
}

}  // namespace

absl::StatusOr<BrokerEnd> EndBroker(const std::string& home,
                                    absl::Duration kill_after,
                                    absl::Duration timeout) {
  const std::string lock = BrokerLockPath(home);
  const int64_t holder = LockFile::Holder(lock);
  const absl::Status not_running =
      Error(absl::StatusCode::kNotFound, "BROKER_NOT_RUNNING",
            "the broker is not running");
  if (holder == 0) return not_running;
  BrokerEnd end{.pid = static_cast<pid_t>(holder)};
  const int pidfd = OpenProcess(end.pid);
  if (pidfd < 0) {
    return errno == ESRCH ? not_running
                          : ErrnoError(errno, "the broker's process");
  }
  absl::StatusOr<BrokerEnd> result = end;
  // The number may have been given to another process before it was opened.
  if (LockFile::Holder(lock) != holder) {
    result = not_running;
  } else if (SignalProcess(pidfd, SIGTERM) != 0) {
    result = ErrnoError(errno, "the broker's process");
  } else if (!AwaitEnd(pidfd, std::min(kill_after, timeout))) {
    end.killed = kill_after < timeout;
    if (end.killed) SignalProcess(pidfd, SIGKILL);
    if (end.killed && AwaitEnd(pidfd, timeout - kill_after)) {
      result = end;
    } else {
      result =
          Error(absl::StatusCode::kDeadlineExceeded, "BROKER_STILL_RUNNING",
                "the broker (process " + std::to_string(end.pid) +
                    ") has not ended after " + absl::FormatDuration(timeout) +
                    "; replace it with: intercom broker restart");
    }
  }
  close(pidfd);
  return result;
}

}  // namespace intercom
