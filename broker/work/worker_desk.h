#ifndef PI_INTERCOM_BROKER_WORK_WORKER_DESK_H_
#define PI_INTERCOM_BROKER_WORK_WORKER_DESK_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/callers.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/session_store.h"
#include "broker/work/controls.h"
#include "broker/work/fences.h"
#include "broker/work/roster_view.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// A coordinator's operations on its workers, and the status reports of
// sessions. Semantics and errors are those of WorkspaceService.
//
// Methods are thread-safe. Each calls its `done` once, on the state's thread:
// it must not block.
class WorkerDesk {
 public:
  // How long a host has to load its responsibility or report its status.
  static constexpr absl::Duration kControlTimeout = absl::Seconds(5);

  // All must outlive this object.
  WorkerDesk(StateRunner& runner, ConfigLanes& lanes, Workspaces& workspaces,
             WorkspaceMirror& mirror, Roster& roster, SessionStore& sessions,
             Dispatcher& dispatcher, Controls& controls, RosterView& view,
             const Fences& fences, int port)
      : runner_(runner),
        lanes_(lanes),
        workspaces_(workspaces),
        mirror_(mirror),
        roster_(roster),
        sessions_(sessions),
        dispatcher_(dispatcher),
        controls_(controls),
        view_(view),
        fences_(fences),
        port_(port) {}

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void GetWorkspace(CallerEvidence evidence, v1::GetWorkspaceRequest request,
                    Done<v1::GetWorkspaceResponse> done);
  void Configure(CallerEvidence evidence, v1::ConfigureWorkerRequest request,
                 Done<v1::ConfigureWorkerResponse> done);
  void Reload(CallerEvidence evidence, v1::ReloadWorkerRequest request,
              Done<v1::ReloadWorkerResponse> done);
  void RequestStatus(CallerEvidence evidence, v1::RequestStatusRequest request,
                     Done<v1::RequestStatusResponse> done);
  void ReportStatus(CallerEvidence evidence, v1::ReportStatusRequest request,
                    Done<v1::ReportStatusResponse> done);

 private:
  struct Configuration;

  // Below: on the state's thread.
  // Whether the session has ever attached; FAILED_PRECONDITION if elsewhere.
  absl::StatusOr<bool> CheckSession(const std::string& session_id,
                                    const std::string& root);
  // Fills in what the call left out: what the entry says already, else what is
  // known of the session.
  void FillIn(const Workspace& workspace, v1::AgentEntry& entry) const;
  void CheckDirectory(std::shared_ptr<Configuration> configuration);
  void Publish(std::shared_ptr<Configuration> configuration);
  void Published(std::shared_ptr<Configuration> configuration,
                 ConfigSnapshotPtr snapshot);
  // Posts what the host of a worker said when it was asked for its status.
  void PostAnswer(const Workspace& workspace, const v1::AgentEntry& entry,
                  const absl::StatusOr<v1::ControlResult>& result);
  absl::Status PostStatus(const Workspace& workspace,
                          const std::string& session_id,
                          const v1::StatusReport& status, Effects& effects);

  StateRunner& runner_;
  ConfigLanes& lanes_;
  Workspaces& workspaces_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  SessionStore& sessions_;
  Dispatcher& dispatcher_;
  Controls& controls_;
  RosterView& view_;
  const Fences& fences_;
  const int port_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_WORKER_DESK_H_
