#ifndef PI_INTERCOM_BROKER_WORK_ABANDONED_WORKSPACES_H_
#define PI_INTERCOM_BROKER_WORK_ABANDONED_WORKSPACES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/monitor_pane_store.h"
#include "broker/storage/state_runner.h"
#include "broker/storage/workspace_store.h"

namespace intercom {

// Forgets the workspaces that nobody came back to and whose config.json is
// gone. One that has its config stays: who coordinates there is pinned, and its
// mail waits. On the state's thread; the disk is asked in the config lanes, one
// workspace at a time.
class AbandonedWorkspaces {
 public:
  // Since a session was there.
  static constexpr absl::Duration kKept = absl::Hours(90 * 24);

  // All must outlive this object.
  AbandonedWorkspaces(StateRunner& runner, ConfigLanes& lanes,
                      WorkspaceMirror& mirror, WorkspaceStore& store,
                      MonitorPaneStore& panes, Roster& roster,
                      const Clock& clock)
      : runner_(runner),
        lanes_(lanes),
        mirror_(mirror),
        store_(store),
        panes_(panes),
        roster_(roster),
        clock_(clock) {}

  // Begins to look for them. An earlier look that still goes on is left to it.
  absl::Status Look();

 private:
  void LookAtNext();
  absl::Status Forget(const std::string& root, Effects& effects);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  WorkspaceMirror& mirror_;
  WorkspaceStore& store_;
  MonitorPaneStore& panes_;
  Roster& roster_;
  const Clock& clock_;
  // Not looked at yet; the last is next.
  std::vector<std::string> unused_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ABANDONED_WORKSPACES_H_
