#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_DIRECTORY_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_DIRECTORY_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/config/file_system.h"

namespace intercom {

inline constexpr char kConfigDirectory[] = ".pi-intercom";
inline constexpr char kConfigName[] = "config.json";

// `<root>/.pi-intercom/config.json`.
std::string ConfigPath(std::string_view root);

// NOT_FOUND with reason NO_CONFIG: the one status that means "does not exist".
absl::Status NoConfig(std::string_view root);

// Something is at `path` that cannot be used. FAILED_PRECONDITION with reason
// CONFIG_UNREADABLE, or UNAVAILABLE when trying again may help. Never
// NOT_FOUND.
absl::Status ConfigUnreadable(std::string_view path, std::string_view what);
absl::Status ConfigUnreadable(std::string_view path, int negative_errno);

// Opens `<root>/.pi-intercom`. NOT_FOUND (NO_CONFIG) if there is nothing of
// that name; CONFIG_UNREADABLE if it is no directory or cannot be opened;
// FAILED_PRECONDITION (CONFIG_OUTSIDE) if it is a symbolic link that leads out
// of `root`.
absl::StatusOr<OpenFile> OpenConfigDirectory(FileSystem& files,
                                             const std::string& root);

// As above, but makes the directory first if it is missing.
absl::StatusOr<OpenFile> MakeConfigDirectory(FileSystem& files,
                                             const std::string& root);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_DIRECTORY_H_
