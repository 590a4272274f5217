#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_CONTEXT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_CONTEXT_H_

#include <iosfwd>
#include <string>

#include "absl/status/status.h"
#include "broker/base/clock.h"
#include "google/protobuf/message.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// What a command works with. Everything outlives it.
struct CommandContext {
  const Arguments& arguments;
  // The state directory.
  const std::string& home;
  BrokerClient& client;
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  const Clock& clock;
  const Terminal& terminal;

  // Writes `message` as JSON if that was asked for, else `text`.
  absl::Status Print(const google::protobuf::Message& message,
                     const std::string& text) const;

  // Absolute: what was named, else the present one.
  std::string Directory() const;

  // FAILED_PRECONDITION (NO_TERMINAL) where nobody can be asked.
  absl::Status CheckCanAsk() const;
  // Shows `evidence` and `question` on standard error and waits for a line.
  // OK for a yes; CANCELLED (NOT_CONFIRMED) otherwise. After CheckCanAsk.
  absl::Status Ask(const std::string& evidence,
                   const std::string& question) const;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_CONTEXT_H_
