#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_FILE_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_FILE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/config/file_system.h"
#include "broker/config/workspace_config.h"

namespace intercom {

// What tells one state of a file from another without reading it.
struct FileIdentity {
  uint64_t device = 0;
  uint64_t inode = 0;
  int64_t size = 0;
  absl::Time modified;
  absl::Time changed;

  bool operator==(const FileIdentity&) const = default;
};

// The file as it was read, not yet parsed.
struct ConfigBytes {
  std::string bytes;
  FileIdentity identity;
};

// A valid config as it was read: the base of a later Replace.
struct ReadConfig {
  std::string bytes;
  WorkspaceConfig config;
  FileIdentity identity;
};

// The config.json of one workspace. Holds no descriptor and no state; every
// call may block. Thread-safe, and safe against other processes that do the
// same. What is no regular file, cannot be read or is not valid is reported and
// never overwritten.
class ConfigFile {
 public:
  // `root` is canonical. `files` must outlive this object.
  ConfigFile(FileSystem& files, std::string root);

  const std::string& root() const { return root_; }
  const std::string& path() const { return path_; }

  // NOT_FOUND with reason NO_CONFIG only if there is nothing of that name.
  // CONFIG_UNREADABLE (FAILED_PRECONDITION, or UNAVAILABLE when trying again
  // may help): unreadable, or a directory, link, pipe or the like in its place.
  // CONFIG_OUTSIDE: `.pi-intercom` leads out of the root. CONFIG_INVALID: too
  // large; from Read() also a broken rule.
  absl::StatusOr<FileIdentity> Stat() const;
  absl::StatusOr<ConfigBytes> ReadBytes() const;
  absl::StatusOr<ReadConfig> Read() const;

  // Publishes the first config of this workspace, complete and on disk. Of any
  // number of contenders one gets OK. ALREADY_EXISTS (CONFIG_EXISTS) if
  // anything of that name is there; FAILED_PRECONDITION (NO_HARD_LINKS) if the
  // file system cannot do it; ABORTED (CONFIG_CHANGED): try again. A failed
  // step removes the temporary file and reports its own error. `now` is wall
  // time, for the removal of what crashes left behind.
  absl::Status Create(std::string_view bytes, absl::Time now) const;

  // Publishes `bytes` in place of `expected`. `guard` is called when the
  // temporary file is complete, right before the publication; its error is
  // returned and nothing is published.
  //
  // ABORTED (CONFIG_CHANGED): the file is no longer what was read; whatever
  // somebody else saved is in place again. FAILED_PRECONDITION (NO_EXCHANGE):
  // the file system cannot exchange files. UNAVAILABLE (CONFIG_NOT_DURABLE):
  // published, but the directory could not be synced. Otherwise as Create.
  absl::Status Replace(
      const ReadConfig& expected, std::string_view bytes, absl::Time now,
      const std::function<absl::Status()>& guard = nullptr) const;

 private:
  FileSystem& files_;
  const std::string root_;
  const std::string path_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_FILE_H_
