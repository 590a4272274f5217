#ifndef PI_INTERCOM_BROKER_WORK_STATUS_DESK_H_
#define PI_INTERCOM_BROKER_WORK_STATUS_DESK_H_

#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/callers.h"
#include "broker/roster/roster.h"
#include "broker/storage/job_store.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/run_store.h"
#include "broker/storage/session_store.h"
#include "broker/work/observations.h"
#include "broker/work/prober.h"
#include "broker/work/reports.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// The status page: what is known of a workspace's workers, how it is known, and
// how old it is. Semantics and errors are those of
// WorkspaceService.GetWorkerStatus.
class StatusDesk {
 public:
  // For so long a session that an earlier broker knew may be on its way back.
  static constexpr absl::Duration kReturnTime = absl::Seconds(15);
  static constexpr int kMaxPage = 20;
  static constexpr int kDefaultPage = 10;

  // All references must outlive this object, which is made when the broker
  // starts.
  StatusDesk(Workspaces& workspaces, Roster& roster, SessionStore& sessions,
             MailboxStore& mailboxes, const Reports& reports,
             Observations& observations, Prober& prober, JobStore& jobs,
             HandoffStore& handoffs, RunStore& runs, const Clock& clock)
      : workspaces_(workspaces),
        roster_(roster),
        sessions_(sessions),
        mailboxes_(mailboxes),
        reports_(reports),
        observations_(observations),
        prober_(prober),
        jobs_(jobs),
        handoffs_(handoffs),
        runs_(runs),
        clock_(clock),
        started_(clock.Steady()) {}

  // Thread-safe. Calls `done` once, on the state's thread: it must not block.
  using Done =
      absl::AnyInvocable<void(absl::StatusOr<v1::GetWorkerStatusResponse>)>;
  void GetWorkerStatus(CallerEvidence evidence,
                       v1::GetWorkerStatusRequest request, Done done);

 private:
  struct Page;

  // Below: on the state's thread.
  static absl::Status Choose(const v1::GetWorkerStatusRequest& request,
                             Page& page);
  void Probe(std::shared_ptr<Page> page);
  void Answer(Page& page, const Prober::Probes& probes);
  absl::Status Describe(const std::string& root, const v1::AgentEntry& entry,
                        const Prober::Probes& probes, v1::WorkerStatus& worker);
  v1::Connection ConnectionOf(const std::string& session_id,
                              bool known_from_before,
                              const Prober::Probes& probes) const;

  Workspaces& workspaces_;
  Roster& roster_;
  SessionStore& sessions_;
  MailboxStore& mailboxes_;
  const Reports& reports_;
  Observations& observations_;
  Prober& prober_;
  JobStore& jobs_;
  HandoffStore& handoffs_;
  RunStore& runs_;
  const Clock& clock_;
  const absl::Duration started_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_STATUS_DESK_H_
