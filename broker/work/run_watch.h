#ifndef PI_INTERCOM_BROKER_WORK_RUN_WATCH_H_
#define PI_INTERCOM_BROKER_WORK_RUN_WATCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/session_store.h"
#include "broker/work/process_watch.h"
#include "broker/work/run_news.h"
#include "broker/work/run_stops.h"
#include "broker/work/runs.h"

namespace intercom {

// What time does to runs: those that don't start in time, stall, run over their
// limits, or whose worker is gone.
//
// On the state's thread.
class RunWatch : public AttachmentObserver {
 public:
  // For how long an envelope may take to reach its worker's session.
  static constexpr absl::Duration kStartWithin = absl::Minutes(5);
  // What could not be withdrawn, or stopped, is tried or settled after this.
  static constexpr absl::Duration kAgainAfter = absl::Seconds(30);
  // How often it is looked for stalls.
  static constexpr absl::Duration kLookEvery = absl::Seconds(30);
  // For how long a worker whose host process has ended may take to be back, and
  // all of them when the broker starts.
  static constexpr absl::Duration kReturnWithin = absl::Seconds(5);
  static constexpr absl::Duration kReturnAtStart = absl::Seconds(15);

  // All must outlive this object, which is made when the broker starts.
  RunWatch(StateRunner& runner, Roster& roster, SessionStore& sessions,
           Runs& runs, RunStore& store, RunStops& stops, RunTeller& teller,
           Dispatcher& dispatcher, const ProcessWatch& watch,
           const Clock& clock)
      : runner_(runner),
        roster_(roster),
        sessions_(sessions),
        runs_(runs),
        store_(store),
        stops_(stops),
        teller_(teller),
        dispatcher_(dispatcher),
        watch_(watch),
        clock_(clock),
        started_(clock.Steady()) {}

  // Once a second.
  void Tick();

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment&, bool) override {}

 private:
  void LookAtWaiting(const RunRow& run);
  void LookAtRunning(const RunRow& run);
  void LookForStalls();
  // Whether the worker's host is known to have ended, long enough ago.
  bool IsGone(const std::string& worker);
  // Whether the host process of its last attachment works on it still.
  bool HostLives(const SessionRow& session) const;

  void WithdrawLate(const RunRow& run);
  // Settles it as FAILED, or as its stop was asked for, if it is open still.
  void Settle(int64_t number, std::string reason, std::string detail);
  // The same for a run whose worker is gone, if it is not back.
  void SettleGone(int64_t number, std::string detail);
  // nullopt: it goes on.
  using ReasonFor = std::function<std::optional<std::string>(const RunRow&)>;
  void SettleIf(int64_t number, ReasonFor reason_for, std::string detail);

  StateRunner& runner_;
  Roster& roster_;
  SessionStore& sessions_;
  Runs& runs_;
  RunStore& store_;
  RunStops& stops_;
  RunTeller& teller_;
  Dispatcher& dispatcher_;
  const ProcessWatch& watch_;
  const Clock& clock_;
  const absl::Duration started_;
  absl::Duration look_at_ = absl::ZeroDuration();
  // When the withdrawal of a late run is tried again, by number.
  absl::flat_hash_map<int64_t, absl::Duration> withdrawn_until_;
  // Since when the host of a worker that is away is known to have ended.
  absl::flat_hash_map<std::string, absl::Duration> gone_since_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_WATCH_H_
