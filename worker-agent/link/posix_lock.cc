#include "worker-agent/link/posix_lock.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "broker/base/error.h"

namespace intercom {
namespace {

struct flock WholeFile() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

}  // namespace

absl::StatusOr<std::optional<PosixLock>> PosixLock::TryTake(
    const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return ErrnoError(errno, path);
  PosixLock taken(fd);
  struct flock lock = WholeFile();
  if (fcntl(fd, F_SETLK, &lock) == 0) {
    return std::optional<PosixLock>(std::move(taken));
  }
  if (errno == EACCES || errno == EAGAIN) return std::optional<PosixLock>();
  return ErrnoError(errno, path);
}

std::optional<pid_t> PosixLock::HolderOf(const std::string& path) {
  const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  struct flock lock = WholeFile();
  const int result = fcntl(fd, F_GETLK, &lock);
  close(fd);
  if (result != 0 || lock.l_type == F_UNLCK || lock.l_pid <= 0) {
    return std::nullopt;
  }
  return lock.l_pid;
}

PosixLock::~PosixLock() {
  if (fd_ >= 0) close(fd_);
}

PosixLock::PosixLock(PosixLock&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

}  // namespace intercom
