#include "worker-agent/launch_room.h"

#include <utility>

#include "worker-agent/launch/pane.h"
#include "worker-agent/launch/saved_session.h"

namespace intercom {

LaunchRoom RealLaunchRoom(Surroundings around) {
  LaunchRoom room;
  room.start = [around](const LaunchPlan& plan) {
    return StartHost(plan, around);
  };
  room.find_saved_session = &FindSavedSession;
  room.own_pane = [around] { return OwnPane(around); };
  room.inspect_host = [around](const v1::HostIdentity& identity) {
    return InspectHost(identity, around);
  };
  room.close_pane = [around](const v1::HostIdentity& identity) {
    return ClosePane(identity, around);
  };
  room.name_own_tab = [around](const std::string& name) {
    return NameOwnTab(name, around);
  };
  room.do_monitor_step = [around](const v1::MonitorPane& claim) {
    return DoMonitorStep(claim, around);
  };
  room.is_monitor_there = [around](const v1::Pane& pane) {
    return IsMonitorThere(pane, around);
  };
  room.around = std::move(around);
  return room;
}

}  // namespace intercom
