#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_COMMAND_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// Scripts for shells, and the hidden command that they run for the names of
// sessions.
std::vector<CommandSpec> CompletionCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_COMMAND_H_
