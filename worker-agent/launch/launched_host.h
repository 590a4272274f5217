#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCHED_HOST_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCHED_HOST_H_

#include <string>

namespace intercom {

// `intercom-agent --launch FILE`: this process becomes the host that the file
// orders, keeping its process id and terminal. Returns only where that fails:
// the exit code, after it said why on the terminal and waited there for any
// key, for 10 min at most, since the pane goes with the process.
int BecomeHost(const std::string& launch_file);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCHED_HOST_H_
