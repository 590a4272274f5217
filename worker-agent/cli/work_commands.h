#ifndef PI_INTERCOM_WORKER_AGENT_CLI_WORK_COMMANDS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_WORK_COMMANDS_H_

#include "absl/status/status.h"
#include "worker-agent/cli/command_context.h"

namespace intercom {

// Commands about workers, their jobs, and who leads them. Each writes to
// standard output only when it succeeds.

absl::Status ShowWorkers(const CommandContext& context);
absl::Status ShowJobs(const CommandContext& context);
absl::Status ShowJob(const CommandContext& context);
absl::Status ShowObservations(const CommandContext& context);

// Those that change something show what is known and ask, at a terminal only:
// there is no way to say yes beforehand.
absl::Status ResolveJob(const CommandContext& context);
absl::Status TakeCoordinator(const CommandContext& context);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_WORK_COMMANDS_H_
