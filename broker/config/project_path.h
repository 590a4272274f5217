#ifndef PI_INTERCOM_BROKER_CONFIG_PROJECT_PATH_H_
#define PI_INTERCOM_BROKER_CONFIG_PROJECT_PATH_H_

#include <string>
#include <string_view>

namespace intercom {

// Pure questions about paths.

// Why `directory` cannot be a project directory, or "" when it can: it must be
// relative in POSIX and in Windows form and have no `..` segment.
std::string WhyNotProjectDirectory(std::string_view directory);

// Whether `path` is `root` or below it. Both canonical.
bool IsAtOrBelow(std::string_view root, std::string_view path);

// `path` relative to `root`, "." when they are equal. Needs IsAtOrBelow.
std::string RelativeTo(std::string_view root, std::string_view path);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_PROJECT_PATH_H_
