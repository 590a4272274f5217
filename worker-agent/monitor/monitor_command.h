#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_MONITOR_COMMAND_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_MONITOR_COMMAND_H_

#include <string>

#include "absl/status/status.h"

namespace intercom {

struct MonitorArguments {
  // The state directory of the broker.
  std::string home;
  // In the workspace that is shown. Absolute.
  std::string directory;
  // All workspaces instead.
  bool all = false;
};

// `intercom monitor`: shows what the sessions do on the whole terminal, until a
// person quits. Starts no broker, and waits for one that is away.
// FAILED_PRECONDITION (NO_TERMINAL, TERMINAL_DUMB, TERMINAL_UNKNOWN): nothing
// was shown.
absl::Status RunMonitor(const MonitorArguments& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_MONITOR_COMMAND_H_
