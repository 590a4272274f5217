#include "broker/config/config_file.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "broker/base/status_macros.h"
#include "broker/config/config_directory.h"
#include "broker/config/json_syntax.h"
#include "broker/config/regular_file.h"

namespace intercom {

absl::StatusOr<OpenRegularFile> OpenRegular(FileSystem& files, int directory,
                                            const std::string& name,
                                            const std::string& path) {
  const int fd =
      files.Open(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
  if (fd == -ENOENT) return absl::NotFoundError(path);
  if (fd < 0) return ConfigUnreadable(path, fd);
  OpenFile file(files, fd);
  struct stat found;
  if (const int result = files.Stat(fd, found); result < 0) {
    return ConfigUnreadable(path, result);
  }
  if (!S_ISREG(found.st_mode)) {
    return ConfigUnreadable(path, "is not a regular file");
  }
  return OpenRegularFile{
      .file = std::move(file),
      .identity = {.device = found.st_dev,
                   .inode = found.st_ino,
                   .size = found.st_size,
                   .modified = absl::TimeFromTimespec(found.st_mtim),
                   .changed = absl::TimeFromTimespec(found.st_ctim)},
      .mode = found.st_mode & 07777};
}

absl::StatusOr<std::string> ReadAll(FileSystem& files, int fd,
                                    const std::string& path) {
  std::string bytes;
  char buffer[16384];
  for (;;) {
    const ssize_t got = files.Read(fd, buffer, sizeof(buffer));
    if (got < 0) return ConfigUnreadable(path, static_cast<int>(got));
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(got));
    if (bytes.size() > kMaxConfigBytes) {
      return ConfigInvalid(path, "larger than the limit of 4 MiB");
    }
  }
}

ConfigFile::ConfigFile(FileSystem& files, std::string root)
    : files_(files), root_(std::move(root)), path_(ConfigPath(root_)) {}

absl::StatusOr<FileIdentity> ConfigFile::Stat() const {
  INTERCOM_ASSIGN_OR_RETURN(const OpenFile directory,
                            OpenConfigDirectory(files_, root_));
  auto opened = OpenRegular(files_, directory.fd(), kConfigName, path_);
  if (absl::IsNotFound(opened.status())) return NoConfig(root_);
  if (!opened.ok()) return opened.status();
  return opened->identity;
}

absl::StatusOr<ConfigBytes> ConfigFile::ReadBytes() const {
  INTERCOM_ASSIGN_OR_RETURN(const OpenFile directory,
                            OpenConfigDirectory(files_, root_));
  auto opened = OpenRegular(files_, directory.fd(), kConfigName, path_);
  if (absl::IsNotFound(opened.status())) return NoConfig(root_);
  if (!opened.ok()) return opened.status();
  INTERCOM_ASSIGN_OR_RETURN(std::string bytes,
                            ReadAll(files_, opened->file.fd(), path_));
  return ConfigBytes{.bytes = std::move(bytes), .identity = opened->identity};
}

absl::StatusOr<ReadConfig> ConfigFile::Read() const {
  INTERCOM_ASSIGN_OR_RETURN(ConfigBytes read, ReadBytes());
  INTERCOM_ASSIGN_OR_RETURN(WorkspaceConfig config,
                            WorkspaceConfig::Parse(read.bytes, path_));
  return ReadConfig{.bytes = std::move(read.bytes),
                    .config = std::move(config),
                    .identity = read.identity};
}

}  // namespace intercom
