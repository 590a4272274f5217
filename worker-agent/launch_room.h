#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_ROOM_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_ROOM_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "worker-agent/launch/launch.h"
#include "worker-agent/launch/monitor_pane.h"

namespace intercom {

// What the agent uses of the room `launch`, as its headers promise it. All of
// them block. Tests put functions of their own in place.
struct LaunchRoom {
  // Where this process runs; what is launched inherits from it.
  Surroundings around;

  std::function<Launch(const LaunchPlan& plan)> start;
  std::function<absl::StatusOr<std::string>(
      const std::string& session_id, const std::string& directory,
      const std::string& agent_dir, const Environment& environment)>
      find_saved_session;
  std::function<absl::StatusOr<v1::Pane>()> own_pane;
  std::function<absl::Status(const v1::HostIdentity& identity)> inspect_host;
  std::function<absl::StatusOr<bool>(const v1::HostIdentity& identity)>
      close_pane;
  std::function<absl::Status(const std::string& name)> name_own_tab;
  std::function<absl::StatusOr<MonitorStep>(const v1::MonitorPane& claim)>
      do_monitor_step;
  std::function<absl::StatusOr<bool>(const v1::Pane& pane)> is_monitor_there;
};

// The room itself.
LaunchRoom RealLaunchRoom(Surroundings around);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_ROOM_H_
