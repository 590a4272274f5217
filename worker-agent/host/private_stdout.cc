#include "worker-agent/host/private_stdout.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "broker/base/error.h"

namespace intercom {

absl::StatusOr<int> TakeStdout() {
  const int taken = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (taken < 0) return ErrnoError(errno, "standard output");
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return ErrnoError(errno, "standard error");
  }
  return taken;
}

}  // namespace intercom
