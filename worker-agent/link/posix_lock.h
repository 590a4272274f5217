#ifndef PI_INTERCOM_WORKER_AGENT_LINK_POSIX_LOCK_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_POSIX_LOCK_H_

#include <sys/types.h>

#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace intercom {

// An fcntl lock on a file: it belongs to the process, ends with it, and names
// it to others. One at a time per file and process.
class PosixLock {
 public:
  // Takes the lock if nobody has it; creates the file with mode 0600. A value
  // of nullopt means that another process holds it.
  static absl::StatusOr<std::optional<PosixLock>> TryTake(
      const std::string& path);

  // The process that holds the lock on `path`, if another one does.
  static std::optional<pid_t> HolderOf(const std::string& path);

  ~PosixLock();
  PosixLock(PosixLock&& other) noexcept;
  PosixLock& operator=(PosixLock&&) = delete;
  PosixLock(const PosixLock&) = delete;
  PosixLock& operator=(const PosixLock&) = delete;

 private:
  explicit PosixLock(int fd) : fd_(fd) {}

  // Closing it frees the lock.
  int fd_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_POSIX_LOCK_H_
