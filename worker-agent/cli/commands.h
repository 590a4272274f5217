#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMMANDS_H_

#include <iosfwd>

#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// Runs what was typed and returns the exit code. Results go to `out`, errors
// with what to do next to `err`.
int RunCommand(const Arguments& arguments, std::istream& in, std::ostream& out,
               std::ostream& err, const Terminal& terminal);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMMANDS_H_
