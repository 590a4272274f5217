#ifndef PI_INTERCOM_BROKER_WORK_WATCH_DESK_H_
#define PI_INTERCOM_BROKER_WORK_WATCH_DESK_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/workspace_gate.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/state_runner.h"
#include "broker/work/event_log.h"
#include "broker/work/event_watch.h"
#include "broker/work/overview_watch.h"
#include "broker/work/watch.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// Lets callers watch: semantics and errors are those of InspectionService's
// streams.
//
// WatchEvents, WatchOverview and Drain are thread-safe; `done` is called once,
// on the state's thread. A watch outlives neither this object nor the log.
class WatchDesk {
 public:
  // All must outlive this object.
  WatchDesk(StateRunner& runner, Workspaces& workspaces, WorkspaceGate& gate,
            WorkspaceMirror& mirror, EventLog& log, OverviewWatch& overviews,
            const Clock& clock, std::string broker_version)
      : runner_(runner),
        workspaces_(workspaces),
        gate_(gate),
        mirror_(mirror),
        log_(log),
        overviews_(overviews),
        clock_(clock),
        broker_version_(std::move(broker_version)) {}

  template <typename Response>
  using Begun = absl::AnyInvocable<void(
      absl::StatusOr<std::shared_ptr<Watch<Response>>>)>;

  // `wake` is called from then on, until the watch is destroyed and for a
  // moment after.
  void WatchEvents(CallerEvidence evidence, v1::WatchEventsRequest request,
                   WatchWake wake, Begun<v1::WatchEventsResponse> done);
  void WatchOverview(CallerEvidence evidence, v1::WatchOverviewRequest request,
                     WatchWake wake, Begun<v1::WatchOverviewResponse> done);

  // Told, on the state's thread, of each monitor that says in which pane it
  // runs; it does while its watch is there. Before the first call.
  using OnClaim = std::function<void(const std::string& claim_id,
                                     std::weak_ptr<const void> watch)>;
  void SetOnClaim(OnClaim on_claim) { on_claim_ = std::move(on_claim); }

  // Streams that are open. Thread-safe.
  int watching() const { return seats_.taken(); }

  // Every watch ends, and none begins.
  void Drain();

 private:
  using Use = absl::AnyInvocable<void(absl::StatusOr<std::string> root)>;
  // Gives the workspace of `directory`, empty for none named, to a caller who
  // may look.
  void FindRoot(CallerEvidence evidence, std::string directory, Use use);
  absl::StatusOr<WatchSeats::Seat> TakeSeat();
  absl::StatusOr<std::shared_ptr<Watch<v1::WatchOverviewResponse>>>
  BeginOverview(const std::string& root, const std::string& claim_id,
                WatchWake wake);

  StateRunner& runner_;
  Workspaces& workspaces_;
  WorkspaceGate& gate_;
  WorkspaceMirror& mirror_;
  EventLog& log_;
  OverviewWatch& overviews_;
  const Clock& clock_;
  const std::string broker_version_;
  WatchSeats seats_;
  OnClaim on_claim_;
  int64_t last_reader_ = 0;
  bool draining_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_WATCH_DESK_H_
