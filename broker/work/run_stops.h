#ifndef PI_INTERCOM_BROKER_WORK_RUN_STOPS_H_
#define PI_INTERCOM_BROKER_WORK_RUN_STOPS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/work/controls.h"
#include "broker/work/fences.h"
#include "broker/work/run_desk.h"
#include "broker/work/runs.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// Cancels runs, as RunService.StopRun describes it, and takes those back that
// wait for a session which takes none. That a run is being stopped, and by
// which call first, is on disk before anything is done about it.
//
// StopRun and OnEvent are thread-safe; `done` is called once, on the state's
// thread or one that only hands answers on. The rest is called on the state's
// thread.
class RunStops : public AttachmentObserver {
 public:
  // For how long the host may take to acknowledge, and the caller waits.
  static constexpr absl::Duration kAcknowledgeWithin = absl::Seconds(5);
  static constexpr absl::Duration kAnswerWithin = absl::Seconds(8);
  // After this long a host is not expected to obey any more.
  static constexpr absl::Duration kDeadline = absl::Seconds(30);

  // All must outlive this object.
  RunStops(StateRunner& runner, Workspaces& workspaces, Roster& roster,
           Runs& runs, RunStore& store, RunDesk& desk, const Fences& fences,
           Controls& controls, Dispatcher& dispatcher, const Clock& clock);

  using Done = absl::AnyInvocable<void(absl::StatusOr<v1::StopRunResponse>)>;
  void StopRun(CallerEvidence evidence, v1::StopRunRequest request, Done done);

  // The broker's own stop of a running run, for `reason`.
  void Request(int64_t number, std::string reason);

  // What a worker's host says of a stop: that it failed is told to the run's
  // supervisor.
  void OnEvent(SessionKey key, v1::JobEvent event);

  // A session whose agent comes back is told again what it is to stop.
  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment&, bool) override {}

 private:
  // One call that is answered once: with its run as it is then.
  struct Call;
  using CallPtr = std::shared_ptr<Call>;
  using Told = std::function<void(std::string detail)>;

  // Inside a command.
  absl::Status Begin(const Caller& caller, const std::string& run_id,
                     const CallPtr& call, Effects& effects);
  absl::Status Force(RunRow run, const CallPtr& call, Effects& effects);
  absl::Status CheckHost(const RunRow& run) const;
  absl::Status Mark(RunRow& run, std::string reason, Effects& effects);

  void WithdrawFirst(const RunRow& run, const CallPtr& call);
  void CancelFor(const RunRow& run, const CallPtr& call);
  // What else ends with the run at its worker.
  void NameOthers(const RunRow& run, Call& call) const;
  void TellFailed(const RunRow& run);
  // The worker takes no runs: what has not reached its session does not.
  void RefuseWaiting(const std::string& worker);
  // Has the host cancel what it does; `told` hears what there is to say of it,
  // which is nothing where all went well.
  void Cancel(const RunRow& run, Told told);
  void Answer(const CallPtr& call, const std::string& detail);

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  Runs& runs_;
  RunStore& store_;
  RunDesk& desk_;
  const Fences& fences_;
  Controls& controls_;
  Dispatcher& dispatcher_;
  const Clock& clock_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_STOPS_H_
