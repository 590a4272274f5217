#ifndef PI_INTERCOM_WORKER_AGENT_CLI_HISTORY_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_HISTORY_COMMAND_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// `history` and `deliveries`: what mail there was, with its texts and without.
std::vector<CommandSpec> HistoryCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_HISTORY_COMMAND_H_
