#ifndef PI_INTERCOM_WORKER_AGENT_CLI_SESSION_LOOKUP_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_SESSION_LOOKUP_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "worker-agent/cli/command_context.h"

namespace intercom {

// The session that a person means by `name`: its name or id in the workspace,
// else in the account, else at least 6 characters of an id. Nothing where
// nobody is called so now, or was lately. FAILED_PRECONDITION (NAME_AMBIGUOUS).
absl::StatusOr<std::optional<v1::RosterEntry>> FindSession(
    const CommandContext& context, const std::string& name);

// Its id; `person` is the caller's own. What nobody is called is taken for an
// id, and said to be: it may be that of a session long gone.
absl::StatusOr<std::string> FindSessionId(const CommandContext& context,
                                          const std::string& name);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_SESSION_LOOKUP_H_
