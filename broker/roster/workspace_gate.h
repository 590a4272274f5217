#ifndef PI_INTERCOM_BROKER_ROSTER_WORKSPACE_GATE_H_
#define PI_INTERCOM_BROKER_ROSTER_WORKSPACE_GATE_H_

#include <memory>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/state_runner.h"

namespace intercom {

// Brings each call together with the config as it is on disk now: reads the
// file in the workspace's lane, mirrors it, and runs the call's command on
// that very snapshot. Calls of one workspace stay in order.
//
// Everything is called on the state's thread.
class WorkspaceGate {
 public:
  using Use = absl::AnyInvocable<absl::Status(
      const std::shared_ptr<const Workspace>&, Effects&)>;
  using Failed = absl::AnyInvocable<void(const absl::Status&)>;

  // All must outlive this object.
  WorkspaceGate(ConfigLanes& lanes, StateRunner& runner,
                WorkspaceMirror& mirror)
      : lanes_(lanes), runner_(runner), mirror_(mirror) {}

  // Runs `use` inside a command on the present config of `root`. Exactly one of
  // a committed `use` or `failed` happens. An invalid or unreadable config
  // fails the call and marks the mirror stale.
  void WithPresent(const std::string& root, Use use, Failed failed);

  // As WithPresent, but an invalid or unreadable config serves the last good
  // mirror, which then has its config_error set; fails only without one.
  void WithLastGood(const std::string& root, Use use, Failed failed);

 private:
  // Posts the command of a decided call.
  void RunOn(std::shared_ptr<const Workspace> workspace, Use use,
             Failed failed);
  void Read(const std::string& root, bool serve_stale, Use use, Failed failed);
  // Mirrors the snapshot in a command of its own, then posts the call's.
  void MirrorAndRun(ConfigSnapshotPtr snapshot, Use use, Failed failed);

  ConfigLanes& lanes_;
  StateRunner& runner_;
  WorkspaceMirror& mirror_;
  // Calls of a root that wait for their mirror command. Later ones wait behind
  // them in the same way, or they would overtake.
  absl::flat_hash_map<std::string, int> mirroring_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROSTER_WORKSPACE_GATE_H_
