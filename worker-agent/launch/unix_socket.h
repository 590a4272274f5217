#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_UNIX_SOCKET_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_UNIX_SOCKET_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom {

// Connects to the socket at `path`, which may be longer than a socket's name.
// A descriptor that does not block; NOT_FOUND (SOCKET_ABSENT): nobody listens
// there; UNAVAILABLE (SOCKET_BUSY): somebody does and takes nobody now.
absl::StatusOr<int> ConnectSocket(const std::string& path);

// Listens at `path`, whose directory is there, for this user alone. Nobody
// finds the socket before it takes connections. A descriptor that does not
// block.
absl::StatusOr<int> ListenSocket(const std::string& path);

// The process that listens at the other end of `fd`; 0 if that is not known.
int64_t ListenerOf(int fd);

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
