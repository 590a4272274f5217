#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_SHELL_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_SHELL_H_

#include <string>

#include "absl/status/status.h"
#include "intercom/v1/work.pb.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/herdr_client.h"

namespace intercom {

// Starting something by typing into the shell of a Herdr pane. Both block
// within the runner's allowance.

// Until the pane's shell has the terminal: what is typed before that may be
// lost. DEADLINE_EXCEEDED (LAUNCH_TIMED_OUT).
absl::Status AwaitHerdrShell(const v1::Pane& pane, const CommandRunner& runner,
                             const HerdrClient& client);

// Until the order was taken, which alone shows that a typed line arrived. False
// if it is not within 10 s.
bool AwaitOrderTaken(const std::string& path, const CommandRunner& runner);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_HERDR_SHELL_H_
