// Temporary: stands in for launch_room.cc until the room `launch` is there.

#include <utility>

#include "broker/base/error.h"
#include "worker-agent/launch_room.h"

namespace intercom {
namespace {

absl::Status Missing() {
  return Error(absl::StatusCode::kFailedPrecondition, "LAUNCHER_UNAVAILABLE",
               "this build can't launch anything");
}

}  // namespace

LaunchRoom RealLaunchRoom(Surroundings around) {
  LaunchRoom room;
  room.around = std::move(around);
  room.start = [](const LaunchPlan&) {
    Launch launch;
    launch.status = Missing();
    return launch;
  };
  room.find_saved_session =
      [](const std::string&, const std::string&, const std::string&,
         const Environment&) -> absl::StatusOr<std::string> {
    return Missing();
  };
  room.own_pane = [] { return v1::Pane(); };
  room.inspect_host = [](const v1::HostIdentity&) { return Missing(); };
  room.close_pane = [](const v1::HostIdentity&) -> absl::StatusOr<bool> {
    return Missing();
  };
  room.name_own_tab = [](const std::string&) { return absl::OkStatus(); };
  return room;
}

}  // namespace intercom
