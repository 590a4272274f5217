#include "worker-agent/directory.h"

#include <filesystem>
#include <system_error>

#include "broker/base/error.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxPathCharacters = 400;

absl::Status Invalid(const std::string& path, const std::string& why) {
  return Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID",
               "cwd: " + SafeLabel(path, kMaxPathCharacters) + " " + why +
                   "; give an existing directory. Nothing was done");
}

}  // namespace

absl::StatusOr<std::string> CanonicalDirectory(const std::string& path,
                                               const std::string& base,
                                               const std::string& home) {
  if (path.find('\0') != std::string::npos) {
    return Invalid(path, "is no path");
  }
  std::filesystem::path full = std::filesystem::path(base) / path;
  if (!home.empty() && (path == "~" || path.starts_with("~/"))) {
    full = home + path.substr(1);
  }
  std::error_code error;
  const auto canonical = std::filesystem::canonical(full, error);
  if (error) {
    return Invalid(path, "can't be found (" + error.message() + ")");
  }
  if (!std::filesystem::is_directory(canonical, error)) {
    return Invalid(path, "is no directory");
  }
  return canonical.string();
}

}  // namespace intercom
