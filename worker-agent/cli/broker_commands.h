#ifndef PI_INTERCOM_WORKER_AGENT_CLI_BROKER_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_BROKER_COMMANDS_H_

#include <vector>

#include "worker-agent/cli/command_table.h"

namespace intercom {

// Commands about the broker itself, its files, and a workspace's config.
std::vector<CommandSpec> BrokerCommands();

// Prints what the broker says of itself; `with_details`: and who is attached,
// and where mail waits.
absl::Status ShowBroker(const CommandContext& context, bool with_details);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_BROKER_COMMANDS_H_
