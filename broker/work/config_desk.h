#ifndef PI_INTERCOM_BROKER_WORK_CONFIG_DESK_H_
#define PI_INTERCOM_BROKER_WORK_CONFIG_DESK_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/callers.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/job_store.h"
#include "broker/storage/report_store.h"
#include "broker/work/fences.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// What a coordinator changes in its config beside the entries that it writes, a
// worker that goes, and the launcher, and what anybody may know of the file.
// Semantics and errors are those of
// WorkspaceService.
//
// Methods are thread-safe. Each calls its `done` once, on the state's thread or
// on one that only hands answers on: it must not block.
class ConfigDesk {
 public:
  // All references must outlive this object.
  ConfigDesk(StateRunner& runner, ConfigLanes& lanes, Workspaces& workspaces,
             WorkspaceMirror& mirror, Roster& roster, ReportStore& reports,
             HandoffStore& handoffs, const Fences& fences,
             Dispatcher& dispatcher)
      : runner_(runner),
        lanes_(lanes),
        workspaces_(workspaces),
        mirror_(mirror),
        roster_(roster),
        reports_(reports),
        handoffs_(handoffs),
        fences_(fences),
        dispatcher_(dispatcher) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void Remove(CallerEvidence evidence, v1::RemoveWorkerRequest request,
              Done<v1::RemoveWorkerResponse> done);
  void SetMultiplexer(CallerEvidence evidence,
                      v1::SetMultiplexerRequest request,
                      Done<v1::SetMultiplexerResponse> done);
  void Check(CallerEvidence evidence, v1::CheckConfigRequest request,
             Done<v1::CheckConfigResponse> done);

 private:
  struct Removal;
  struct Checking;

  // Below: on the state's thread.
  absl::Status CheckRemovable(const std::string& root,
                              const v1::AgentEntry& entry) const;
  void Forget(std::shared_ptr<Removal> removal, ConfigSnapshotPtr snapshot);
  void RefuseMail(std::shared_ptr<Removal> removal);
  static void CheckedNowhere(const std::string& directory, Checking& checking);
  void ReadToCheck(const std::string& root, std::shared_ptr<Checking> checking);
  // Of the entries from `position` on.
  void CheckDirectories(size_t position, std::shared_ptr<Checking> checking);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  Workspaces& workspaces_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  ReportStore& reports_;
  HandoffStore& handoffs_;
  const Fences& fences_;
  Dispatcher& dispatcher_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CONFIG_DESK_H_
