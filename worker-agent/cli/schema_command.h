#ifndef PI_INTERCOM_WORKER_AGENT_CLI_SCHEMA_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_SCHEMA_COMMAND_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// What --json prints, for programs. Asks no broker.
std::vector<CommandSpec> SchemaCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_SCHEMA_COMMAND_H_
