#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_PLAN_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_PLAN_H_

#include <string>
#include <vector>

#include "intercom/v1/work.pb.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// How this session's own host was started: a worker's is started the same way.
struct HostLaunch {
  // The program and what comes before its arguments.
  std::vector<std::string> argv;
  // Real path of the extension file.
  std::string extension;
  // Pi's own directory.
  std::string agent_dir;
};

// What a launched host inherits of this process's environment: all but what
// describes a terminal, a shell's state or a session.
Environment InheritedEnvironment(const Environment& own);

// The launch of `begun`. `session_file`: the session to open, by its path,
// because Pi takes an id for a prefix of one and looks in other projects too;
// empty for a new one.
LaunchPlan PlanOf(const HostLaunch& host, const v1::BeginLaunchResponse& begun,
                  const Surroundings& around, const std::string& session_file);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_PLAN_H_
