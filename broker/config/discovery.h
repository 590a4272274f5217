#ifndef PI_INTERCOM_BROKER_CONFIG_DISCOVERY_H_
#define PI_INTERCOM_BROKER_CONFIG_DISCOVERY_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "broker/config/file_system.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

struct DiscoveryRequest {
  // Required. The session's directory, absolute.
  std::string cwd;
  // Overrides the walk: an absolute directory, the root.
  std::optional<std::string> workspace_root = std::nullopt;
  v1::WorkspaceMode mode = v1::WORKSPACE_MODE_AUTO;
  // The user's home directory. "" if unknown.
  std::string home;
  // The session's $TMPDIR. Unset: this process's own.
  std::optional<std::string> temporary_directory = std::nullopt;
};

struct Discovery {
  enum class Kind {
    // No workspace: a peer.
    kNone,
    // `root` has a config.
    kFound,
    // Nothing found; a config may be created in `root`.
    kCreatable,
  };

  Kind kind = Kind::kNone;
  // All symbolic links resolved.
  std::string cwd_canonical;
  // Canonical. Set unless kNone.
  std::optional<std::string> root = std::nullopt;
  // `cwd_canonical` relative to `root`, "." at the root. "" for kNone.
  std::string project_directory;
};

// Finds the workspace of a directory: the nearest directory upward, by real
// path, with a config.json. Blocks on the file system.
//
// Only "does not exist" counts as absent; whatever else is wrong with an entry
// stops the walk with the error of ConfigFile::Read. Nothing is creatable in
// exactly the home directory, `/`, $TMPDIR, /tmp or /var/tmp.
//
// NOT_FOUND (NO_DIRECTORY): cwd or override do not exist. INVALID_ARGUMENT
// (BAD_DIRECTORY): they are not absolute, or no directories.
// FAILED_PRECONDITION (WORKSPACE_MISMATCH): cwd is not below the override.
absl::StatusOr<Discovery> Discover(FileSystem& files,
                                   const DiscoveryRequest& request);

// As Discover, but does not look into the config it found.
absl::StatusOr<Discovery> FindRoot(FileSystem& files,
                                   const DiscoveryRequest& request);

// Checks that `relative` names an existing directory at or below `root` after
// all symbolic links are resolved, and returns it in canonical form, relative
// to `root`. Blocks on the file system.
//
// INVALID_ARGUMENT (DIRECTORY_OUTSIDE): absolute in POSIX or Windows form, a
// `..` segment, or a link that leaves the root; the message says which.
// NOT_FOUND (NO_DIRECTORY): does not exist. INVALID_ARGUMENT (BAD_DIRECTORY):
// not a directory.
absl::StatusOr<std::string> CheckProjectDirectory(FileSystem& files,
                                                  const std::string& root,
                                                  std::string_view relative);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_DISCOVERY_H_
