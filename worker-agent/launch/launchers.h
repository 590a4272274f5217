#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCHERS_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCHERS_H_

#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// StartHost with its dependencies: checks the plan, then hands it to its
// launcher.
Launch StartHostWith(const LaunchPlan& plan, const Surroundings& around,
                     const Clock& clock, Random& random,
                     CommandRunner::Limits limits);

// What a launcher needs besides the plan, which was checked.
struct LaunchTools {
  const Surroundings& around;
  const CommandRunner& runner;
  Random& random;
  // What to run in the new pane: the agent, which becomes the host.
  std::vector<std::string> command;
};
// They need not tell whether something may be started: that is known from
// whether the agent took its order.
Launch LaunchInTmux(const LaunchPlan& plan, const LaunchTools& tools);
Launch LaunchInHerdr(const LaunchPlan& plan, const LaunchTools& tools);
// `launch_file` is the order that the hosting process takes.
Launch LaunchHeadless(const std::string& launch_file, const LaunchTools& tools);

// A launch of which nothing was made.
Launch NotLaunched(absl::Status status);
// LAUNCHER_UNAVAILABLE: what is missing, in words.
absl::Status LauncherUnavailable(const std::string& why);
// What a model may do about it: the config's launcher is a person's choice.
std::string OtherLauncher(const std::string& name);
// LAUNCH_FAILED, or LAUNCH_TIMED_OUT if `cause` says so.
absl::Status LaunchFailed(const absl::Status& cause);
absl::Status LaunchFailed(const std::string& why);

// `environment` without what belongs to this session: a server that is started
// with it would hand that to everything in it. `also` are further names.
Environment WithoutSession(Environment environment,
                           const std::vector<std::string>& also);

// What a host that `launcher` starts must not inherit from whatever started
// that launcher's server: another session's variables, and the panes of other
// multiplexers, which this one may run in.
std::vector<std::string> NotInherited(const std::string& launcher);

// How to fill in a process: its start, if it runs.
void SetHost(Launch& launch, int64_t pid);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCHERS_H_
