#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_STATUS_PAGE_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_STATUS_PAGE_H_

#include <cstddef>

#include "intercom/v1/workspace.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

inline constexpr size_t kMaxStatusPageBytes = 40'000;

// How many workers fit a page, whichever of these they are: all of them, or
// fewer, but at least one. A page is shown in another order than the one it
// pages through, so one that is too large is asked for again with this limit
// instead of being cut.
int WorkersThatFit(const v1::GetWorkerStatusResponse& response);

// The page as JSON. `truncated`: it holds fewer workers than were asked for.
ToolResult RenderStatusPage(const v1::GetWorkerStatusResponse& response,
                            bool truncated);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_STATUS_PAGE_H_
