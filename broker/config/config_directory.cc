#include "broker/config/config_directory.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/project_path.h"

namespace intercom {
namespace {

absl::string_view ToAbsl(std::string_view text) {
  return {text.data(), text.size()};
}

absl::StatusOr<OpenFile> OpenRoot(FileSystem& files, const std::string& root) {
  const int fd = files.Open(AT_FDCWD, root, O_PATH | O_DIRECTORY, 0);
  if (fd < 0) return ConfigUnreadable(root, fd);
  return OpenFile(files, fd);
}

}  // namespace

std::string ConfigPath(std::string_view root) {
  return absl::StrCat(root == "/" ? "" : ToAbsl(root), "/", kConfigDirectory,
                      "/", kConfigName);
}

absl::Status NoConfig(std::string_view root) {
  return Error(absl::StatusCode::kNotFound, "NO_CONFIG",
               absl::StrCat(ConfigPath(root), " does not exist"));
}

absl::Status ConfigUnreadable(std::string_view path, std::string_view what) {
  return Error(absl::StatusCode::kFailedPrecondition, "CONFIG_UNREADABLE",
               absl::StrCat(ToAbsl(path), " ", ToAbsl(what)));
}

absl::Status ConfigUnreadable(std::string_view path, int negative_errno) {
  const int error = -negative_errno;
  if (error == ELOOP) return ConfigUnreadable(path, "is a symbolic link");
  const bool lasting = error == EACCES || error == EPERM || error == ENOTDIR ||
                       error == EISDIR || error == ENOENT || error == ENXIO ||
                       error == ENODEV || error == ENAMETOOLONG;
  return Error(
      lasting ? absl::StatusCode::kFailedPrecondition
              : absl::StatusCode::kUnavailable,
      "CONFIG_UNREADABLE",
      absl::StrCat(ToAbsl(path), ": ", std::generic_category().message(error)));
}

absl::StatusOr<OpenFile> OpenConfigDirectory(FileSystem& files,
                                             const std::string& root) {
  INTERCOM_ASSIGN_OR_RETURN(const OpenFile root_directory,
                            OpenRoot(files, root));
  const std::string path =
      absl::StrCat(root == "/" ? "" : root, "/", kConfigDirectory);
  const auto open = [&] {
    return files.Open(root_directory.fd(), kConfigDirectory,
                      O_RDONLY | O_DIRECTORY | O_NONBLOCK, 0);
  };
  int fd = open();
  if (fd == -ENOENT) {
    struct stat found;
    const int result =
        files.StatAt(root_directory.fd(), kConfigDirectory, found);
    if (result == -ENOENT) return NoConfig(root);
    if (result < 0) return ConfigUnreadable(path, result);
    // A link that leads nowhere exists all the same. Anything else was made in
    // this moment.
    if (S_ISLNK(found.st_mode)) {
      return ConfigUnreadable(path, "is a symbolic link that leads nowhere");
    }
    fd = open();
  }
  if (fd < 0) return ConfigUnreadable(path, fd);
  OpenFile directory(files, fd);
  std::string real_root;
  std::string real;
  if (const int result = files.PathOf(root_directory.fd(), real_root);
      result < 0) {
    return ConfigUnreadable(path, result);
  }
  if (const int result = files.PathOf(directory.fd(), real); result < 0) {
    return ConfigUnreadable(path, result);
  }
  if (!IsAtOrBelow(real_root, real)) {
    return Error(absl::StatusCode::kFailedPrecondition, "CONFIG_OUTSIDE",
                 absl::StrCat(path, " leads out of its workspace to ", real));
  }
  return directory;
}

absl::StatusOr<OpenFile> MakeConfigDirectory(FileSystem& files,
                                             const std::string& root) {
  absl::StatusOr<OpenFile> existing = OpenConfigDirectory(files, root);
  if (!absl::IsNotFound(existing.status())) return existing;
  // Readable this time, for Sync needs it.
  const int fd = files.Open(AT_FDCWD, root, O_RDONLY | O_DIRECTORY, 0);
  if (fd < 0) return ErrnoError(-fd, root);
  const OpenFile root_directory(files, fd);
  const int made = files.MakeDirectory(root_directory.fd(), kConfigDirectory);
  if (made < 0 && made != -EEXIST) {
    return ErrnoError(-made,
                      absl::StrCat("create ", root, "/", kConfigDirectory));
  }
  // Some file systems cannot sync a directory; they say EINVAL.
  if (const int synced = files.Sync(root_directory.fd());
      synced < 0 && synced != -EINVAL) {
    return ErrnoError(-synced, absl::StrCat("sync ", root));
  }
  return OpenConfigDirectory(files, root);
}

}  // namespace intercom
