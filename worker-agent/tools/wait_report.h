#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_WAIT_REPORT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_WAIT_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "intercom/v1/ask.pb.h"
#include "intercom/v1/run.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// A wait for runs, as far as it came.
struct WaitReport {
  // Each once, in the order in which they were heard of.
  std::vector<v1::SettledRun> settled;
  std::vector<v1::Run> open;
  // Those that were too many for one wait.
  int64_t left_out = 0;
  // The question that ended it.
  std::optional<v1::Ask> ask;
  // Why it can't go on; OK for a time that is over and for an ask.
  absl::Status trouble;
  absl::Duration waited;
};

// It is over, and the host gets what it brought: `ids` are the runs that this
// collects. An error only if it brought nothing and can't go on.
ToolResult RenderWait(const WaitReport& report, absl::Time now);
// Its caller gave it up: nothing is collected.
ToolResult RenderWaitGivenUp(const WaitReport& report);

// "waiting for 2 of 5 runs (12s of 10m): 2 done, 1 failed, 2 running".
std::string WaitProgress(const WaitReport& report, absl::Duration time,
                         bool connected);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_WAIT_REPORT_H_
