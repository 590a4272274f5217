#ifndef PI_INTERCOM_WORKER_AGENT_CLI_WORK_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_WORK_COMMANDS_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// Commands about workers, their jobs, and who leads them. Those that change
// something show what is known and ask, at a terminal only: there is no way to
// say yes beforehand.
std::vector<CommandSpec> WorkCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_WORK_COMMANDS_H_
