#ifndef PI_INTERCOM_WORKER_AGENT_CLI_MAIL_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_MAIL_COMMANDS_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// Commands that send, and that look at or take back what was sent.
std::vector<CommandSpec> MailCommands();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_MAIL_COMMANDS_H_
