#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_JOB_RESULT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_JOB_RESULT_H_

#include <string>

#include "intercom/v1/work.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// Answers of the tools that begin jobs: how the job stands, and what comes
// next.

// A launch that the launcher took. `pane` and `detail` are what it made, `job`
// the job as it is now.
ToolResult RenderLaunched(const v1::BeginLaunchResponse& begun,
                          const v1::Job& job, const v1::Pane& pane,
                          const std::string& detail);
// A repeated call: nothing was launched by it, this is what became of the
// first.
ToolResult RenderLaunchJob(const v1::Job& job);

// A stop that failed is an error.
ToolResult RenderStopped(const v1::StopWorkerResponse& response);
ToolResult RenderClosing(const v1::CloseWorkerResponse& response);
ToolResult RenderHandoff(const v1::ReportHandoffResponse& response);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_JOB_RESULT_H_
