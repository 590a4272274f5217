#ifndef PI_INTERCOM_BROKER_WORK_RETENTION_H_
#define PI_INTERCOM_BROKER_WORK_RETENTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/roster.h"
#include "broker/storage/ask_store.h"
#include "broker/storage/delivery_history.h"
#include "broker/storage/job_store.h"
#include "broker/storage/note_store.h"
#include "broker/storage/run_store.h"
#include "broker/storage/session_store.h"
#include "broker/work/abandoned_workspaces.h"
#include "broker/work/observations.h"

namespace intercom {

// Forgets what was kept for long enough, in small steps. Nothing that is open
// is forgotten. On the state's thread.
class Retention {
 public:
  static constexpr absl::Duration kSettledMailKept = absl::Hours(14 * 24);
  static constexpr int64_t kSettledMailBytes = 256 << 20;
  // And notes.
  static constexpr absl::Duration kSettledRunsKept = absl::Hours(30 * 24);
  static constexpr absl::Duration kEndedJobsKept = absl::Hours(30 * 24);
  static constexpr absl::Duration kUnknownSessionsKept = absl::Hours(90 * 24);
  // By then whoever was attached to an earlier broker is attached again.
  static constexpr absl::Duration kForgetEvery = absl::Hours(1);

  struct Stores {
    DeliveryHistory& history;
    AskStore& asks;
    JobStore& jobs;
    RunStore& runs;
    NoteStore& notes;
    SessionStore& sessions;
  };
  // All must outlive this object.
  Retention(Stores stores, Observations& observations,
            AbandonedWorkspaces& workspaces, const Roster& roster,
            const Clock& clock)
      : stores_(stores),
        observations_(observations),
        workspaces_(workspaces),
        roster_(roster),
        clock_(clock),
        forget_at_(clock.Steady() + kForgetEvery) {}

  // One step, in the caller's transaction. True: there may be more.
  absl::StatusOr<bool> Step();

 private:
  // Sessions and workspaces that nobody knows any more, once an hour.
  absl::StatusOr<bool> ForgetUnknown();

  const Stores stores_;
  Observations& observations_;
  AbandonedWorkspaces& workspaces_;
  const Roster& roster_;
  const Clock& clock_;
  // On Clock::Steady.
  absl::Duration forget_at_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RETENTION_H_
