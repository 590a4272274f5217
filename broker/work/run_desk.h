#ifndef PI_INTERCOM_BROKER_WORK_RUN_DESK_H_
#define PI_INTERCOM_BROKER_WORK_RUN_DESK_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/run_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/runs.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/run.pb.h"

namespace intercom {

// What becomes of runs: by their envelopes, by the word of the hosts that work
// on them, and by what their supervisors know of them. Semantics and errors are
// those of RunService.
//
// ListRuns, GetRun, OnEvent, OnTold and OnPolicy are thread-safe; `done` is
// called once, on the state's thread. The rest is called there.
class RunDesk {
 public:
  static constexpr int kMaxListed = 64;

  // All must outlive this object. What becomes of envelopes reaches it through
  // `dispatcher`.
  RunDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
          Runs& runs, RunStore& store, Dispatcher& dispatcher,
          const Clock& clock);

  // Called after the commit when a run that is being stopped began.
  using OnStopDue = std::function<void(int64_t number)>;
  void SetOnStopDue(OnStopDue on_stop_due) {
    on_stop_due_ = std::move(on_stop_due);
  }

  // Called when the person of an attached session takes no runs from now on.
  using OnRefused = std::function<void(const std::string& session_id)>;
  void SetOnRefused(OnRefused on_refused) {
    on_refused_ = std::move(on_refused);
  }

  template <typename Response>
  using Done = absl::AnyInvocable<void(absl::StatusOr<Response>)>;
  void ListRuns(CallerEvidence evidence, v1::ListRunsRequest request,
                Done<v1::ListRunsResponse> done);
  void GetRun(CallerEvidence evidence, v1::GetRunRequest request,
              Done<v1::GetRunResponse> done);

  // What a worker's host says of a run.
  void OnEvent(SessionKey key, v1::RunEvent event);
  // What of its runs a supervisor's session has.
  void OnTold(SessionKey key, v1::RunsTold told);
  void OnPolicy(SessionKey key, v1::RunPolicy policy);

  // The runs that these ids name, of that supervisor: RUN_ID_INVALID,
  // UNKNOWN_RUN, RUN_DROPPED. Without ids those that are open, and those that
  // settled and were neither collected nor announced.
  template <typename Ids>
  absl::StatusOr<std::vector<RunRow>> FindRuns(const std::string& supervisor,
                                               const Ids& run_ids) const;
  absl::StatusOr<RunRow> FindRun(const std::string& supervisor,
                                 const std::string& run_id) const;
  // A settled run with as much of its result.
  absl::StatusOr<v1::SettledRun> DescribeSettled(const RunRow& run,
                                                 size_t characters) const;

 private:
  // Inside commands.
  absl::Status OnArrived(const std::string& delivery_id, bool is_there,
                         Effects& effects);
  absl::StatusOr<bool> OnEnded(const std::string& delivery_id,
                               v1::DeliveryEnd end, bool is_certain,
                               Effects& effects);
  absl::Status Begin(RunRow& run, Effects& effects);
  absl::Status Record(const std::string& worker, const v1::RunEvent& event,
                      Effects& effects);
  absl::Status RecordProgress(RunRow run, const v1::RunEvent& event,
                              Effects& effects);
  absl::Status RecordEnd(RunRow run, const v1::RunEvent& event,
                         Effects& effects);
  // True if anything of it grew.
  absl::StatusOr<bool> TakeFigures(const v1::RunEvent& event,
                                   size_t most_characters, RunRow& run);
  absl::Status RecordTold(const std::string& supervisor,
                          const v1::RunsTold& told, Effects& effects);
  absl::StatusOr<std::vector<RunRow>> Present(
      const std::string& supervisor) const;
  bool IsPresent(const SessionKey& key) const;

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  Runs& runs_;
  RunStore& store_;
  const Clock& clock_;
  OnStopDue on_stop_due_;
  OnRefused on_refused_;
};

template <typename Ids>
absl::StatusOr<std::vector<RunRow>> RunDesk::FindRuns(
    const std::string& supervisor, const Ids& run_ids) const {
  if (run_ids.empty()) return Present(supervisor);
  std::vector<RunRow> runs;
  for (const std::string& run_id : run_ids) {
    absl::StatusOr<RunRow> run = FindRun(supervisor, run_id);
    if (!run.ok()) return run.status();
    runs.push_back(*std::move(run));
  }
  return runs;
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_RUN_DESK_H_
