#include "worker-agent/launch/private_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "broker/base/error.h"

namespace intercom {

absl::Status MakePrivateDirectory(const std::string& path) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    return ErrnoError(errno, path);
  }
  struct stat facts;
  if (lstat(path.c_str(), &facts) != 0) return ErrnoError(errno, path);
  if (!S_ISDIR(facts.st_mode) || facts.st_uid != getuid() ||
      (facts.st_mode & 077) != 0) {
    return Error(absl::StatusCode::kPermissionDenied, "LAUNCH_DIRECTORY_UNSAFE",
                 path +
                     " must be a directory that only you may enter; "
                     "remove it, or chmod 700 it");
  }
  return absl::OkStatus();
}

}  // namespace intercom
