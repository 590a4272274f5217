#ifndef PI_INTERCOM_BROKER_BASE_LOCK_FILE_H_
#define PI_INTERCOM_BROKER_BASE_LOCK_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace intercom {

// An exclusive fcntl lock on a file, held until destruction or the end of the
// process. The kernel names its holder: no pid file can lie. The lock is the
// process's: opening and closing the same file elsewhere in it drops the lock.
class LockFile {
 public:
  // Takes the lock without waiting. FAILED_PRECONDITION (LOCKED) if another
  // process holds it; else as ErrnoError.
  static absl::StatusOr<std::unique_ptr<LockFile>> TryAcquire(
      const std::string& path);

  // The pid of the process that holds the lock at `path`; 0 if none does or
  // there is no such file. Not for a file that this process holds itself.
  static int64_t Holder(const std::string& path);

  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

  // Whether `path` still is the file that is locked.
  bool IsInPlace() const;

 private:
  LockFile(std::string path, int descriptor)
      : path_(std::move(path)), descriptor_(descriptor) {}

  const std::string path_;
  const int descriptor_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_LOCK_FILE_H_
