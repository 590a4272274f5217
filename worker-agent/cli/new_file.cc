#include "worker-agent/cli/new_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::Status CheckFree(const std::string& path) {
  struct stat facts;
  if (lstat(path.c_str(), &facts) != 0 && errno == ENOENT) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kAlreadyExists, "FILE_EXISTS",
               path + " exists and stays as it is; name a file that doesn't");
}

// A name is only kept by a directory that is on disk itself.
absl::Status SyncDirectoryOf(const std::string& path) {
  std::string directory = std::filesystem::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoError(errno, "open " + directory);
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  // Some file systems can't.
  return error == 0 || error == EINVAL
             ? absl::OkStatus()
             : ErrnoError(error, "fsync " + directory);
}

}  // namespace

absl::StatusOr<std::unique_ptr<NewFile>> NewFile::Create(
    const std::string& path) {
  INTERCOM_RETURN_IF_ERROR(CheckFree(path));
  std::string temporary = path + ".XXXXXX";
  const int fd = mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return ErrnoError(errno, "create a file beside " + path);
  return std::unique_ptr<NewFile>(new NewFile(path, std::move(temporary), fd));
}

NewFile::NewFile(std::string path, std::string temporary, int descriptor)
    : path_(std::move(path)),
      temporary_(std::move(temporary)),
      descriptor_(descriptor) {}

NewFile::~NewFile() {
  close(descriptor_);
  if (!finished_) unlink(temporary_.c_str());
}

absl::Status NewFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return ErrnoError(errno, "write " + temporary_);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status NewFile::Finish() {
  if (fsync(descriptor_) != 0) return ErrnoError(errno, "fsync " + temporary_);
  if (renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str(),
                RENAME_NOREPLACE) != 0) {
    // Some file systems know no rename that spares what is there.
    const int error = errno;
    if (error != EINVAL && error != ENOSYS && error != EEXIST) {
      return ErrnoError(error, "rename " + temporary_);
    }
    INTERCOM_RETURN_IF_ERROR(CheckFree(path_));
    if (rename(temporary_.c_str(), path_.c_str()) != 0) {
      return ErrnoError(errno, "rename " + temporary_);
    }
  }
  finished_ = true;
  return SyncDirectoryOf(path_);
}

}  // namespace intercom
