#include "broker/base/lock_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "broker/base/error.h"

namespace intercom {

absl::StatusOr<std::unique_ptr<LockFile>> LockFile::TryAcquire(
    const std::string& path) {
  const int descriptor =
      open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (descriptor < 0) return ErrnoError(errno, "can't open the lock " + path);
  std::unique_ptr<LockFile> lock(new LockFile(path, descriptor));
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_SETLK, &whole) != 0) {
    const int error = errno;
    if (error == EACCES || error == EAGAIN) {
      const int64_t holder = Holder(path);
      return Error(absl::StatusCode::kFailedPrecondition, "LOCKED",
                   path + " is locked by process " + std::to_string(holder));
    }
    return ErrnoError(error, "can't lock " + path);
  }
  return lock;
}

int64_t LockFile::Holder(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (descriptor < 0) return 0;
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  const bool asked = fcntl(descriptor, F_GETLK, &whole) == 0;
  close(descriptor);
  return asked && whole.l_type != F_UNLCK ? whole.l_pid : 0;
}

LockFile::~LockFile() { close(descriptor_); }

bool LockFile::IsInPlace() const {
  struct stat there {};
  struct stat ours {};
  return stat(path_.c_str(), &there) == 0 && fstat(descriptor_, &ours) == 0 &&
         there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
}

}  // namespace intercom
