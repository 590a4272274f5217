#ifndef PI_INTERCOM_BROKER_WORK_REPORT_DESK_H_
#define PI_INTERCOM_BROKER_WORK_REPORT_DESK_H_

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/roster/callers.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/report_store.h"
#include "broker/work/observations.h"
#include "broker/work/roster_news.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// What sessions report to their coordinator by a call of their own: a worker
// its public report, an anonymous session itself. Semantics and errors are
// those of WorkspaceService.
//
// Methods are thread-safe. Each calls its `done` once, on the state's thread or
// on one that only hands answers on: it must not block.
class ReportDesk {
 public:
  // All must outlive this object.
  ReportDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
             ReportStore& reports, DeliveryStore& deliveries,
             Dispatcher& dispatcher, RosterNews& news,
             Observations& observations, const Clock& clock, Random& random)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        reports_(reports),
        deliveries_(deliveries),
        dispatcher_(dispatcher),
        news_(news),
        observations_(observations),
        clock_(clock),
        random_(random) {}

  // Told after the commit of each report.
  using OnReported =
      std::function<void(const v1::Sender& worker, const v1::Report& report)>;
  void SetOnReported(OnReported on_reported) {
    on_reported_ = std::move(on_reported);
  }

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;

  void ReportWork(CallerEvidence evidence, v1::ReportWorkRequest request,
                  Done<v1::ReportWorkResponse> done);
  void Register(CallerEvidence evidence, v1::RegisterRequest request,
                Done<v1::RegisterResponse> done);

 private:
  struct Saved;

  // Below: on the state's thread.
  // Tells the coordinator of a report that is on disk, and answers.
  void Tell(std::shared_ptr<Saved> saved);
  // One of the worker that still waits is superseded; the same one stands.
  absl::Status Accept(const Saved& saved, Effects& effects);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  ReportStore& reports_;
  DeliveryStore& deliveries_;
  Dispatcher& dispatcher_;
  RosterNews& news_;
  Observations& observations_;
  const Clock& clock_;
  Random& random_;
  OnReported on_reported_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_REPORT_DESK_H_
