#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_TEXT_H_

#include <string>

#include "absl/time/time.h"
#include "intercom/v1/run.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// What the actions of `intercom` that are about one run, or only look, answer.

// Runs as a table of at most 64 rows, and how many more there are. Never a word
// of a worker.
std::string RunTable(const v1::ListRunsResponse& runs, absl::Time now);

ToolResult RenderPeek(const v1::ListRunsResponse& runs, absl::Time now);

// The whole result: who it is of in our words, the worker's fenced.
ToolResult RenderRunResult(const v1::SettledRun& settled, absl::Time now);

ToolResult RenderStoppedRun(const v1::StopRunResponse& response);

// An accepted steering message.
ToolResult RenderSteered(const v1::DeliveryRecord& record,
                         const std::string& run_id);

// Charges `result` with what a collected run cost: of headless workers, which
// nobody else pays for, and once.
void Charge(const v1::Run& run, ToolResult& result);

// Of a run that did not end by itself: why, in the broker's words. Ended by LF;
// empty where nothing is to be said.
std::string EndSentence(const v1::Run& run);
// A line on what is the matter with an open run; empty for nothing.
std::string TroubleOf(const v1::Run& run);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_TEXT_H_
