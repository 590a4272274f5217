#ifndef PI_INTERCOM_BROKER_WORK_COORDINATOR_DESK_H_
#define PI_INTERCOM_BROKER_WORK_COORDINATOR_DESK_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/callers.h"
#include "broker/routing/dispatcher.h"
#include "broker/work/observations.h"
#include "broker/work/roster_news.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// Who coordinates a workspace changes by a person's word only. Semantics and
// errors are those of WorkspaceService.ConfirmCoordinator.
class CoordinatorDesk {
 public:
  // All must outlive this object.
  CoordinatorDesk(StateRunner& runner, ConfigLanes& lanes,
                  Workspaces& workspaces, WorkspaceMirror& mirror,
                  Roster& roster, Dispatcher& dispatcher, RosterNews& news,
                  Observations& observations)
      : runner_(runner),
        lanes_(lanes),
        workspaces_(workspaces),
        mirror_(mirror),
        roster_(roster),
        dispatcher_(dispatcher),
        news_(news),
        observations_(observations) {}

  // Thread-safe. Calls `done` once, on the state's thread or on one that only
  // hands answers on: it must not block.
  using Done =
      absl::AnyInvocable<void(absl::StatusOr<v1::ConfirmCoordinatorResponse>)>;
  void Confirm(CallerEvidence evidence, v1::ConfirmCoordinatorRequest request,
               Done done);

 private:
  struct Confirmation;
  using ConfirmationPtr = std::shared_ptr<Confirmation>;

  // Below: on the state's thread.
  void Apply(ConfirmationPtr confirmation, ConfigSnapshotPtr snapshot);
  // Roles have changed: both sessions are told, and the new coordinator hears
  // of the sessions that wait to be configured.
  void Tell(const Confirmation& confirmation, const Workspace& workspace);
  void Notify(const Workspace& workspace, const std::string& session_id,
              std::string text);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  Workspaces& workspaces_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  Dispatcher& dispatcher_;
  RosterNews& news_;
  Observations& observations_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_COORDINATOR_DESK_H_
