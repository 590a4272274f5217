// The publishing half of ConfigFile.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_directory.h"
#include "broker/config/config_file.h"
#include "broker/config/regular_file.h"

namespace intercom {
namespace {

constexpr char kTemporaryPrefix[] = ".config.json.intercom-";
constexpr char kTemporarySuffix[] = ".tmp";
constexpr char kRescuedName[] = "config.json.rescued";
constexpr absl::Duration kLeftoverAge = absl::Hours(1);

absl::Status StepError(int negative_errno, absl::string_view step,
                       const std::string& path) {
  return ErrnoError(-negative_errno, absl::StrCat(step, " ", path));
}

// Some file systems cannot sync a directory; they say EINVAL.
int SyncDirectory(FileSystem& files, int fd) {
  const int result = files.Sync(fd);
  return result == -EINVAL ? 0 : result;
}

// A complete file of a name of our own in `.pi-intercom`. Removed at the end
// unless it is kept.
class TemporaryFile {
 public:
  static absl::StatusOr<TemporaryFile> Write(FileSystem& files, int directory,
                                             std::string_view bytes,
                                             std::optional<mode_t> mode,
                                             const std::string& path) {
    // Unique among live threads of this machine; O_EXCL covers the rest.
    const std::string stem =
        absl::StrCat(kTemporaryPrefix, getpid(), "-", gettid(), "-");
    int fd = -EEXIST;
    std::string name;
    for (int i = 0; fd == -EEXIST && i < 100; ++i) {
      name = absl::StrCat(stem, i, kTemporarySuffix);
      fd = files.Open(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                      0666);
    }
    if (fd < 0) return StepError(fd, "create a temporary file for", path);
    OpenFile file(files, fd);
    TemporaryFile temporary(files, directory, name);
    while (!bytes.empty()) {
      const ssize_t done = files.Write(fd, bytes.data(), bytes.size());
      if (done < 0) return StepError(static_cast<int>(done), "write", path);
      if (done == 0) return StepError(-EIO, "write", path);
      bytes.remove_prefix(static_cast<size_t>(done));
    }
    if (mode.has_value()) {
      if (const int result = files.ChangeMode(fd, *mode); result < 0) {
        return StepError(result, "set the mode of", path);
      }
    }
    if (const int result = files.Sync(fd); result < 0) {
      return StepError(result, "sync", path);
    }
    if (const int result = file.Close(); result < 0) {
      return StepError(result, "close", path);
    }
    return temporary;
  }

  ~TemporaryFile() {
    if (!name_.empty()) files_->Unlink(directory_, name_);
  }
  TemporaryFile(TemporaryFile&& other) noexcept
      : files_(other.files_),
        directory_(other.directory_),
        name_(std::exchange(other.name_, "")) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;

  const std::string& name() const { return name_; }
  void Keep() { name_.clear(); }

 private:
  TemporaryFile(FileSystem& files, int directory, std::string name)
      : files_(&files), directory_(directory), name_(std::move(name)) {}

  FileSystem* files_;
  int directory_;
  std::string name_;
};

// Removes what crashed publications left behind. Best effort.
void RemoveLeftovers(FileSystem& files, int directory, absl::Time now) {
  std::vector<std::string> names;
  files.List(directory, names);
  for (const std::string& name : names) {
    struct stat found;
    if (absl::StartsWith(name, kTemporaryPrefix) &&
        absl::EndsWith(name, kTemporarySuffix) &&
        files.StatAt(directory, name, found) == 0 && S_ISREG(found.st_mode) &&
        now - absl::TimeFromTimespec(found.st_mtim) > kLeftoverAge) {
      files.Unlink(directory, name);
    }
  }
}

// Whether `name` is a regular file with exactly these bytes.
bool Holds(FileSystem& files, int directory, const std::string& name,
           std::string_view bytes, const std::string& path) {
  const auto opened = OpenRegular(files, directory, name, path);
  if (!opened.ok()) return false;
  const auto read = ReadAll(files, opened->file.fd(), path);
  return read.ok() && *read == bytes;
}

absl::Status Changed(const std::string& path) {
  return Error(absl::StatusCode::kAborted, "CONFIG_CHANGED",
               absl::StrCat(path,
                            " was changed by somebody else at the same time; "
                            "nothing was written, repeat the call"));
}

// Puts back what the exchange took out.
absl::Status Undo(FileSystem& files, int directory, TemporaryFile& temporary,
                  std::string_view ours, const std::string& path) {
  const int result = files.Exchange(directory, temporary.name(), kConfigName);
  if (result == 0) {
    // Somebody may have saved once more in between: the later version stays.
    if (!Holds(files, directory, temporary.name(), ours, path)) {
      files.Exchange(directory, temporary.name(), kConfigName);
    }
    return Changed(path);
  }
  // The version of somebody else must survive.
  std::string kept = kRescuedName;
  if (files.Rename(directory, temporary.name(), kRescuedName) < 0) {
    kept = temporary.name();
  }
  temporary.Keep();
  return Error(absl::StatusCode::kUnavailable, "CONFIG_UNDO_FAILED",
               absl::StrCat(path,
                            " was changed by somebody else while it was "
                            "written; that version is in ",
                            kept, " beside it"));
}

}  // namespace

absl::Status ConfigFile::Create(std::string_view bytes, absl::Time now) const {
  INTERCOM_ASSIGN_OR_RETURN(const OpenFile directory,
                            MakeConfigDirectory(files_, root_));
  {
    INTERCOM_ASSIGN_OR_RETURN(const TemporaryFile temporary,
                              TemporaryFile::Write(files_, directory.fd(),
                                                   bytes, std::nullopt, path_));
    const int result =
        files_.Link(directory.fd(), temporary.name(), kConfigName);
    if (result == -EEXIST) {
      return Error(absl::StatusCode::kAlreadyExists, "CONFIG_EXISTS",
                   absl::StrCat(path_, " is there already"));
    }
    if (result == -EPERM || result == -EOPNOTSUPP || result == -ENOSYS ||
        result == -EMLINK) {
      return Error(absl::StatusCode::kFailedPrecondition, "NO_HARD_LINKS",
                   absl::StrCat("the file system of ", root_,
                                " has no hard links, which creating ", path_,
                                " safely needs; write the file by hand"));
    }
    // Somebody whose clock is far ahead took it for a leftover.
    if (result == -ENOENT) return Changed(path_);
    if (result < 0) return StepError(result, "publish", path_);
  }
  RemoveLeftovers(files_, directory.fd(), now);
  if (const int result = SyncDirectory(files_, directory.fd()); result < 0) {
    return Error(absl::StatusCode::kUnavailable, "CONFIG_NOT_DURABLE",
                 absl::StrCat(path_,
                              " was created, but its directory could "
                              "not be synced"));
  }
  return absl::OkStatus();
}

absl::Status ConfigFile::Replace(
    const ReadConfig& expected, std::string_view bytes, absl::Time now,
    const std::function<absl::Status()>& guard) const {
  INTERCOM_ASSIGN_OR_RETURN(const OpenFile directory,
                            OpenConfigDirectory(files_, root_));
  const int fd = directory.fd();
  {
    auto current = OpenRegular(files_, fd, kConfigName, path_);
    if (absl::IsNotFound(current.status())) return Changed(path_);
    if (!current.ok()) return current.status();
    INTERCOM_ASSIGN_OR_RETURN(const std::string present,
                              ReadAll(files_, current->file.fd(), path_));
    if (present != expected.bytes) return Changed(path_);
    INTERCOM_ASSIGN_OR_RETURN(
        TemporaryFile temporary,
        TemporaryFile::Write(files_, fd, bytes, current->mode, path_));
    if (guard != nullptr) INTERCOM_RETURN_IF_ERROR(guard());
    const int result = files_.Exchange(fd, temporary.name(), kConfigName);
    if (result == -ENOENT) return Changed(path_);
    if (result == -EINVAL || result == -ENOSYS || result == -EOPNOTSUPP) {
      return Error(absl::StatusCode::kFailedPrecondition, "NO_EXCHANGE",
                   absl::StrCat("the file system of ", root_,
                                " cannot exchange two files, which changing ",
                                path_, " safely needs; edit it by hand"));
    }
    if (result < 0) return StepError(result, "publish", path_);
    if (!Holds(files_, fd, temporary.name(), expected.bytes, path_)) {
      return Undo(files_, fd, temporary, bytes, path_);
    }
  }
  RemoveLeftovers(files_, fd, now);
  if (const int result = SyncDirectory(files_, fd); result < 0) {
    return Error(absl::StatusCode::kUnavailable, "CONFIG_NOT_DURABLE",
                 absl::StrCat(path_,
                              " was written, but its directory could "
                              "not be synced"));
  }
  return absl::OkStatus();
}

}  // namespace intercom
