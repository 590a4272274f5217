#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_UNIX_SOCKET_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_UNIX_SOCKET_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom {

// Whether somebody listens at `path`. A busy listener counts.
bool SomebodyListens(const std::string& path);

// Sends one line to the socket at `path` and returns the line that is answered,
// both without their ends.
//
// NOT_FOUND (SOCKET_ABSENT): nobody listens there, nothing was sent. Others:
// it may have been sent. DEADLINE_EXCEEDED (SOCKET_SILENT), RESOURCE_EXHAUSTED
// (SOCKET_ANSWER_TOO_LARGE), UNAVAILABLE (SOCKET_CLOSED).
absl::StatusOr<std::string> AskSocket(const std::string& path,
                                      const std::string& line,
                                      const CommandRunner& allowance);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_UNIX_SOCKET_H_
