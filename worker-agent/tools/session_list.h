#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_SESSION_LIST_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_SESSION_LIST_H_

#include <cstddef>
#include <string>

#include "intercom/v1/roster.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// Most bytes of a `sessions/list` answer, and of a tool result's details.
inline constexpr size_t kMaxSessionListBytes = 512 << 10;
inline constexpr size_t kMaxListDetailBytes = 64 << 10;

// The answer to `sessions/list`: `{self?, sessions, leftOut?}`. Of what exceeds
// `max_bytes` only the number is told.
Json SessionsJson(const v1::ListSessionsResponse& response, size_t max_bytes);

// The same for the model, one line a session, its own first. `home` is shown as
// "~". However long the list, it fits a tool result and says what it leaves
// out.
ToolResult RenderSessions(const v1::ListSessionsResponse& response,
                          const std::string& home);

// `path` as one safe line in which `home` is "~"; the end of one that is too
// long.
std::string DirectoryLabel(const std::string& path, const std::string& home);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_SESSION_LIST_H_
