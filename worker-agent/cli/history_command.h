#ifndef PI_INTERCOM_WORKER_AGENT_CLI_HISTORY_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_HISTORY_COMMAND_H_

#include <vector>

#include "absl/status/status.h"
#include "intercom/v1/message.pb.h"
#include "worker-agent/cli/command_table.h"

namespace intercom {

// `history` and `deliveries`: what mail there was, with its texts and without.
std::vector<CommandSpec> HistoryCommands();

// Declares which messages are wanted, and sets in `request` what was typed of
// it. NOT_FOUND, FAILED_PRECONDITION as FindSessionId.
void DeclareMessageFilters(CLI::App& command, Arguments& arguments);
absl::Status NarrowMessages(const CommandContext& context,
                            v1::ListMessagesRequest& request);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_HISTORY_COMMAND_H_
