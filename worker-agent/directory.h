#ifndef PI_INTERCOM_WORKER_AGENT_DIRECTORY_H_
#define PI_INTERCOM_WORKER_AGENT_DIRECTORY_H_

#include <string>

#include "absl/status/statusor.h"

namespace intercom {

// The absolute path, without symbolic links, of a directory that a tool call
// names: relative to `base`, or with "~" for `home`. INVALID_ARGUMENT
// (DIRECTORY_INVALID) if there is none. Blocks for as long as the file system.
absl::StatusOr<std::string> CanonicalDirectory(const std::string& path,
                                               const std::string& base,
                                               const std::string& home);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_DIRECTORY_H_
