#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_LABELS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_LABELS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// Facts about runs as people and models read them. Labels and names are made
// safe; nothing here is text of a worker.

// "waiting", "running", "done", "failed", "stopped"; "unknown" for others.
std::string_view RunStateLabel(v1::Run::State state);

bool IsOpen(const v1::Run& run);

// "42s", "3m 12s", "2h 5m".
std::string TimeTaken(absl::Duration time);
// How long it has run: until it settled, else until `now`. Before it started,
// how long it has waited.
absl::Duration DurationOf(const v1::Run& run, absl::Time now);

// Input and output; what was cached is counted once, where it was written.
int64_t TokensOf(const v1::Usage& usage);

// 'run-12 "parser" · Builder · done · 5 turns · 1200 tokens · 3m 12s'.
std::string RunHeading(const v1::Run& run, absl::Time now);

// "2 done, 1 failed": how many are in each state, in a fixed order.
std::string StateCounts(const std::vector<v1::Run>& runs);

// "3 runs" and "1 run".
std::string Runs(int64_t count);

// Sums what a call is to be charged with.
void AddUsage(const v1::Usage& usage, v1::Usage& sum);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_LABELS_H_
