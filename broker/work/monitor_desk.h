#ifndef PI_INTERCOM_BROKER_WORK_MONITOR_DESK_H_
#define PI_INTERCOM_BROKER_WORK_MONITOR_DESK_H_

#include <map>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/roster/roster.h"
#include "broker/storage/monitor_pane_store.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/monitor.pb.h"

namespace intercom {

// Decides which coordinator's agent opens the monitor's pane, so that there are
// never two. Semantics and errors are those of MonitorPaneService.
class MonitorDesk {
 public:
  // All must outlive this object.
  MonitorDesk(StateRunner& runner, Workspaces& workspaces, const Roster& roster,
              MonitorPaneStore& store, const Clock& clock)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        store_(store),
        clock_(clock) {}

  // Thread-safe. Each calls `done` once, on the state's thread or on one that
  // only hands answers on: it must not block.
  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;
  void Claim(CallerEvidence evidence, v1::ClaimMonitorPaneRequest request,
             Done<v1::ClaimMonitorPaneResponse> done);
  void Advance(CallerEvidence evidence, v1::AdvanceMonitorPaneRequest request,
               Done<v1::AdvanceMonitorPaneResponse> done);

  // On the state's thread: the monitor that this claim opened has called, and
  // runs while `watch` is there.
  void OnObserved(const std::string& claim_id, std::weak_ptr<const void> watch);
  // Likewise: a workspace's config has changed. Its coordinator's agent hears
  // of the first worker, once.
  void OnMirrored(const Workspace& workspace);

 private:
  absl::StatusOr<v1::ClaimMonitorPaneResponse> Decide(
      const DecidedCall& call, const v1::ClaimMonitorPaneRequest& request);

  // Whether the monitor of that claim watches now: whatever was found of its
  // pane, it is there.
  bool IsRunning(const std::string& claim_id) const;

  StateRunner& runner_;
  Workspaces& workspaces_;
  const Roster& roster_;
  MonitorPaneStore& store_;
  const Clock& clock_;
  // By root: the attachment that was told of a worker.
  std::map<std::string, int64_t> told_;
  // By claim; those that ended go with the next one.
  std::map<std::string, std::weak_ptr<const void>> monitors_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_MONITOR_DESK_H_
