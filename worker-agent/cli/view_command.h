#ifndef PI_INTERCOM_WORKER_AGENT_CLI_VIEW_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_VIEW_COMMAND_H_

#include <string>

#include "absl/status/status.h"
#include "worker-agent/cli/command_context.h"

namespace intercom {

// `intercom view NAME`: writes what a headless worker of the state directory
// `home` says to the context's output. Works without a broker where NAME is a
// job's id. FAILED_PRECONDITION (NOT_HEADLESS): it has a pane, or nobody
// launched it. NOT_FOUND (WORKER_UNKNOWN, WORKER_GONE).
absl::Status ViewWorker(const CommandContext& context, const std::string& home);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_VIEW_COMMAND_H_
