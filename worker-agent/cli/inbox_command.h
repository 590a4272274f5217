#ifndef PI_INTERCOM_WORKER_AGENT_CLI_INBOX_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_INBOX_COMMAND_H_

#include <string>
#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// `inbox`: what waits for the person, who has read it by that.
std::vector<CommandSpec> InboxCommands();

// "3 unread for you: intercom inbox", ended by LF. Empty where there is none,
// or nobody who has a mailbox.
std::string UnreadNotice(const CommandContext& context);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_INBOX_COMMAND_H_
