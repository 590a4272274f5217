#ifndef PI_INTERCOM_WORKER_AGENT_CLI_ASK_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_ASK_COMMAND_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// `ask`: prints the answer and nothing else, and says then that it was read.
// Without an answer its error is NO_ANSWER, or WAIT_ENDED where nobody waits
// any more though one may still come: both say where it will be.
std::vector<CommandSpec> AskCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_ASK_COMMAND_H_
