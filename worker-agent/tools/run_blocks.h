#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_BLOCKS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_BLOCKS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// What reports of several runs are made of. A report is at most 12,000
// characters, cut only between lines; a run in it has at most 4,000, and its
// fair share, but not less than 256. What has no room at all waits for the next
// one.
inline constexpr size_t kMostReportCharacters = 12'000;

// A block for each run for which there is room within `budget`: the failures
// first, its worker's words fenced. Its id is added to `told`.
std::string RunBlocks(const std::vector<v1::SettledRun>& runs, size_t budget,
                      absl::Time now, std::vector<std::string>& told);

// The ids of those of `runs` that are not `told`, bounded: "run-4, run-7 and 3
// more". Empty where none is left.
std::string IdsLeft(const std::vector<v1::SettledRun>& runs,
                    const std::vector<std::string>& told);
// Most characters of it.
inline constexpr size_t kMostIdsLeft = 440;

// What is said behind the blocks of these runs.
std::string BlocksClosing(const std::vector<v1::SettledRun>& runs);

std::vector<v1::Run> RunsOf(const std::vector<v1::SettledRun>& settled);

// "3 runs ended: 2 done, 1 failed".
std::string EndedCounts(const std::vector<v1::SettledRun>& settled);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_RUN_BLOCKS_H_
