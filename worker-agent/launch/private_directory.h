#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_PRIVATE_DIRECTORY_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_PRIVATE_DIRECTORY_H_

#include <string>

#include "absl/status/status.h"

namespace intercom {

// Makes the directory `path`, for this user alone, unless it is there.
// PERMISSION_DENIED (LAUNCH_DIRECTORY_UNSAFE): others may enter it.
absl::Status MakePrivateDirectory(const std::string& path);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_PRIVATE_DIRECTORY_H_
