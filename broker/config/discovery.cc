#include "broker/config/discovery.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/config_file.h"
#include "broker/config/project_path.h"

namespace intercom {
namespace {

absl::Status BadDirectory(absl::string_view what) {
  return Error(absl::StatusCode::kInvalidArgument, "BAD_DIRECTORY",
               std::string(what));
}

// The canonical form of the directory `path`, called `what` in errors.
absl::StatusOr<std::string> Canonical(FileSystem& files,
                                      const std::string& path,
                                      absl::string_view what) {
  if (path.empty() || path[0] != '/' || path.find('\0') != std::string::npos) {
    return BadDirectory(absl::StrCat(what, " is not absolute: ", path));
  }
  std::string real;
  int result = files.RealPath(path, real);
  if (result == -ENOENT) {
    return Error(absl::StatusCode::kNotFound, "NO_DIRECTORY",
                 absl::StrCat(what, " does not exist: ", path));
  }
  if (result < 0 && result != -ENOTDIR) {
    return ErrnoError(-result, absl::StrCat(what, " ", path));
  }
  struct stat found;
  if (result == 0) result = files.StatAt(AT_FDCWD, real, found);
  if (result < 0 || !S_ISDIR(found.st_mode)) {
    return BadDirectory(absl::StrCat(what, " is not a directory: ", path));
  }
  return real;
}

// Whether `directory` is one in which no workspace is started by itself.
bool IsReserved(FileSystem& files, const DiscoveryRequest& request,
                const std::string& directory) {
  const char* own = getenv("TMPDIR");
  const std::string temporary =
      request.temporary_directory.value_or(own == nullptr ? "" : own);
  if (directory == "/") return true;
  for (const std::string& reserved :
       {request.home, temporary, std::string("/tmp"),
        std::string("/var/tmp")}) {
    std::string real;
    if (!reserved.empty() && files.RealPath(reserved, real) == 0 &&
        real == directory) {
      return true;
    }
  }
  return false;
}

Discovery AtRoot(Discovery::Kind kind, std::string cwd, std::string root) {
  Discovery discovery;
  discovery.kind = kind;
  discovery.project_directory = RelativeTo(root, cwd);
  discovery.cwd_canonical = std::move(cwd);
  discovery.root = std::move(root);
  return discovery;
}

std::string Parent(const std::string& directory) {
  const size_t slash = directory.rfind('/');
  return slash == 0 ? "/" : directory.substr(0, slash);
}

}  // namespace

absl::StatusOr<Discovery> FindRoot(FileSystem& files,
                                   const DiscoveryRequest& request) {
  INTERCOM_ASSIGN_OR_RETURN(std::string cwd,
                            Canonical(files, request.cwd, "the directory"));
  Discovery none;
  none.cwd_canonical = cwd;
  if (request.mode == v1::WORKSPACE_MODE_NEVER) return none;

  std::string start = cwd;
  if (request.workspace_root.has_value()) {
    INTERCOM_ASSIGN_OR_RETURN(start, Canonical(files, *request.workspace_root,
                                               "the workspace override"));
    if (!IsAtOrBelow(start, cwd)) {
      return Error(absl::StatusCode::kFailedPrecondition, "WORKSPACE_MISMATCH",
                   absl::StrCat("the session's directory ", cwd,
                                " is not in the workspace ", start,
                                " that it was told to join"));
    }
  }
  for (std::string directory = start;; directory = Parent(directory)) {
    const auto identity = ConfigFile(files, directory).Stat();
    if (identity.ok()) {
      return AtRoot(Discovery::Kind::kFound, std::move(cwd), directory);
    }
    if (!absl::IsNotFound(identity.status())) return identity.status();
    if (directory == "/" || request.workspace_root.has_value()) break;
  }
  if (request.mode == v1::WORKSPACE_MODE_EXISTING ||
      IsReserved(files, request, start)) {
    return none;
  }
  return AtRoot(Discovery::Kind::kCreatable, std::move(cwd), start);
}

absl::StatusOr<Discovery> Discover(FileSystem& files,
                                   const DiscoveryRequest& request) {
  INTERCOM_ASSIGN_OR_RETURN(Discovery found, FindRoot(files, request));
  if (found.kind == Discovery::Kind::kFound) {
    INTERCOM_RETURN_IF_ERROR(ConfigFile(files, *found.root).Read().status());
  }
  return found;
}

absl::StatusOr<std::string> CheckProjectDirectory(FileSystem& files,
                                                  const std::string& root,
                                                  std::string_view relative) {
  const std::string named(relative);
  if (const std::string why = WhyNotProjectDirectory(relative); !why.empty()) {
    return Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_OUTSIDE",
                 absl::StrCat("project directory ", named, " ", why));
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const std::string real,
      Canonical(files, absl::StrCat(root, "/", named), "project directory"));
  if (!IsAtOrBelow(root, real)) {
    return Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_OUTSIDE",
                 absl::StrCat("project directory ", named, " leads to ", real,
                              ", out of the workspace ", root));
  }
  return RelativeTo(root, real);
}

}  // namespace intercom
