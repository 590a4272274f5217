#ifndef PI_INTERCOM_WORKER_AGENT_GUARD_PROCESS_TREE_H_
#define PI_INTERCOM_WORKER_AGENT_GUARD_PROCESS_TREE_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace intercom {

// The guards above a process, ids with a space between: in the environment of
// all that was started below them.
inline constexpr char kGuardsVariable[] = "PI_INTERCOM_GUARDS";
// Set for what is to outlive the guards above it.
inline constexpr char kOutlivesVariable[] = "PI_INTERCOM_OUTLIVES";

// One process for as long as the machine runs.
struct ProcessId {
  int64_t pid = 0;
  int64_t start_ticks = 0;

  bool operator==(const ProcessId& other) const = default;
  auto operator<=>(const ProcessId& other) const = default;
};

// What runs below `pid` now, but what is to outlive it and what is below that.
// No zombies. A process whose parent ends meanwhile may be missing.
std::vector<ProcessId> DescendantsOf(int64_t pid);

// This user's processes that were started below the guard `id`, but what is to
// outlive it.
std::vector<ProcessId> ProcessesGuardedBy(std::string_view id);

// True unless the process can't be ended by this user. A process that has ended
// already counts as told.
bool SendSignal(const ProcessId& process, int number);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_GUARD_PROCESS_TREE_H_
