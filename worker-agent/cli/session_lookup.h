#ifndef PI_INTERCOM_WORKER_AGENT_CLI_SESSION_LOOKUP_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_SESSION_LOOKUP_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker-agent/cli/command_context.h"

namespace intercom {

// The id of the session that a person means by `name`: its name or id in the
// workspace, else in the account, else at least 6 characters of an id; `person`
// for themselves. What nobody is called now is taken for an id: it may be that
// of a session long gone. FAILED_PRECONDITION (NAME_AMBIGUOUS).
absl::StatusOr<std::string> FindSessionId(const CommandContext& context,
                                          const std::string& name);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_SESSION_LOOKUP_H_
