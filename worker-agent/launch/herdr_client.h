#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_CLIENT_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_CLIENT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/herdr_requests.h"

namespace intercom {

// Asks one Herdr server: over its socket where somebody listens there, else by
// its program, which is HERDR_BIN_PATH where PATH has none. Thread-safe.
class HerdrClient {
 public:
  // `runner` must outlive this object. "" is Herdr's default socket.
  HerdrClient(const CommandRunner& runner, std::string socket);

  // The result object. Blocks within the runner's allowance.
  //
  // FAILED_PRECONDITION (HERDR_<code>): Herdr refused, nothing was done.
  // NOT_FOUND (HERDR_UNREACHABLE): nothing was asked. Others: it may have been
  // done.
  absl::StatusOr<nlohmann::json> Ask(const herdr::Request& request) const;

  // Whether the socket is there.
  bool HasSocket() const;

  const std::string& socket() const { return socket_; }

 private:
  absl::StatusOr<nlohmann::json> AskProgram(
      const herdr::Request& request) const;

  const CommandRunner& runner_;
  const std::string socket_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_CLIENT_H_
