#ifndef PI_INTERCOM_WORKER_AGENT_CLI_SESSION_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_SESSION_COMMANDS_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// Commands that show who is there and what goes on between them.
std::vector<CommandSpec> SessionCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_SESSION_COMMANDS_H_
