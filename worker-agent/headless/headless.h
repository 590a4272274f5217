#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_HEADLESS_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_HEADLESS_H_

#include <string>

namespace intercom {

// `intercom-agent --headless FILE`: hosts, detached from its caller, the
// session that the launch file orders; see README.md. Returns in the calling
// process with 0 once that can be followed, having said so on standard output,
// or with 1, having said why not; and in the hosting process with its exit code
// when the session's host has ended: the host's own, 128 and the number of the
// signal that ended it, 1 where nobody knows.
//
// To be called first thing in a process that has one thread.
int HostHeadless(const std::string& launch_file);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_HEADLESS_H_
