#ifndef PI_INTERCOM_WORKER_AGENT_CLI_READ_MARKS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_READ_MARKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker-agent/cli/command_context.h"

namespace intercom {

// Says that the person was shown these deliveries: only once they have left
// this process. UNAVAILABLE (OUTPUT_FAILED): they have not, and stay unread. A
// broker that can't be told is a warning: they are shown again.
absl::Status MarkShown(const CommandContext& context,
                       const std::vector<std::string>& delivery_ids);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_READ_MARKS_H_
