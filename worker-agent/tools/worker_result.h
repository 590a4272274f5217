#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_WORKER_RESULT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_WORKER_RESULT_H_

#include "intercom/v1/workspace.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// Answers of the tools that change who is a worker, and what of them the config
// says.

ToolResult RenderConfigured(const v1::ConfigureWorkerResponse& response);
ToolResult RenderReloaded(const v1::ReloadWorkerResponse& response);
ToolResult RenderRemoved(const v1::RemoveWorkerResponse& response);
ToolResult RenderMultiplexer(const v1::SetMultiplexerResponse& response);
ToolResult RenderRegistered(const v1::RegisterResponse& response);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_WORKER_RESULT_H_
