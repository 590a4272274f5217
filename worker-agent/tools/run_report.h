#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_REPORT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_REPORT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "intercom/v1/ask.pb.h"
#include "intercom/v1/run.pb.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// A report is at most 12,000 characters, cut only between lines; a run in it
// has at most 4,000, and its fair share, but not less than 256. What has no
// room at all waits for the next one.

// What a bulletin says of runs that ended or stalled.
struct RunDigest {
  std::string content;
  std::string summary;
  // Runs whose end it tells, and those of which it tells that they stalled.
  std::vector<std::string> settled;
  std::vector<std::string> stalled;
};
// The first line has the counts, failures come first. `news` tells something.
RunDigest DigestOf(const v1::RunNews& news, absl::Time now);

// What a bulletin says now and then while runs are open.
RunDigest CheckInOf(const v1::ListRunsResponse& runs, absl::Time now);

// A wait for runs, as far as it came.
struct WaitReport {
  // Each once, in the order in which they were heard of.
  std::vector<v1::SettledRun> settled;
  std::vector<v1::Run> open;
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

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_REPORT_H_
