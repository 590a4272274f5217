#ifndef PI_INTERCOM_WORKER_AGENT_CLI_EXPORT_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_EXPORT_COMMAND_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// `history export`: what mail there was, for programs and for keeping.
std::vector<CommandSpec> ExportCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_EXPORT_COMMAND_H_
