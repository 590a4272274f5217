#include "broker/storage/wal_sync.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::Status SyncFolderOf(const std::string& path) {
  const std::string folder =
      std::filesystem::absolute(path).parent_path().string();
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return ErrnoError(errno, "open " + folder);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  if (result != 0) return ErrnoError(error, "fsync " + folder);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WalSync> WalSync::Open(const std::string& path) {
  const std::string wal = path + "-wal";
  const int fd = open(wal.c_str(), O_RDWR | O_CLOEXEC);
  if (fd < 0) return ErrnoError(errno, "open " + wal);
  WalSync sync(fd);
  INTERCOM_RETURN_IF_ERROR(SyncFolderOf(path));
  return sync;
}

WalSync::WalSync(WalSync&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)) {}

WalSync::~WalSync() {
  if (fd_ >= 0) close(fd_);
}

absl::Status WalSync::Sync() const {
  if (fdatasync(fd_) != 0) return ErrnoError(errno, "sync of the -wal file");
  return absl::OkStatus();
}

}  // namespace intercom
