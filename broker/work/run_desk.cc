#include "broker/work/run_desk.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/work/run_text.h"

namespace intercom {

RunDesk::RunDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
                 Runs& runs, RunStore& store, Dispatcher& dispatcher,
                 const Clock& clock)
    : runner_(runner),
      workspaces_(workspaces),
      roster_(roster),
      runs_(runs),
      store_(store),
      clock_(clock) {
  dispatcher.SetOnArrived(
      [this](const std::string& delivery_id, bool is_there, Effects& effects) {
        return OnArrived(delivery_id, is_there, effects);
      });
  dispatcher.AddOnEnded([this](const std::string& delivery_id,
                               v1::DeliveryEnd end, bool is_certain,
                               Effects& effects) {
    return OnEnded(delivery_id, end, is_certain, effects);
  });
  dispatcher.SetRunOf([this](const std::string& delivery_id, bool repeated) {
    if (const RunRow* run = runs_.FindByDelivery(delivery_id)) {
      return RunId(run->number);
    }
    if (!repeated) return std::string();
    const auto settled = store_.FindByDelivery(delivery_id);
    return settled.ok() && settled->has_value() ? RunId((*settled)->number)
                                                : std::string();
  });
}

absl::StatusOr<RunRow> RunDesk::FindRun(const std::string& supervisor,
                                        const std::string& run_id) const {
  INTERCOM_ASSIGN_OR_RETURN(const int64_t number, ParseRunId(run_id));
  INTERCOM_ASSIGN_OR_RETURN(auto run, store_.Find(number));
  if (run.has_value() && run->supervisor_session_id == supervisor) {
    return *std::move(run);
  }
  INTERCOM_ASSIGN_OR_RETURN(const bool is_dropped,
                            store_.IsDropped(supervisor, number));
  return is_dropped ? RunDropped(number) : UnknownRun(number);
}

absl::StatusOr<std::vector<RunRow>> RunDesk::Present(
    const std::string& supervisor) const {
  INTERCOM_ASSIGN_OR_RETURN(auto runs, store_.OpenOfSupervisor(supervisor));
  INTERCOM_ASSIGN_OR_RETURN(auto untold,
                            store_.Untold(supervisor, Runs::kMostUntold));
  std::move(untold.begin(), untold.end(), std::back_inserter(runs));
  std::sort(runs.begin(), runs.end(), [](const RunRow& a, const RunRow& b) {
    return a.number < b.number;
  });
  return runs;
}

absl::StatusOr<v1::SettledRun> RunDesk::DescribeSettled(
    const RunRow& run, size_t characters) const {
  v1::SettledRun settled;
  *settled.mutable_run() = ToProto(run, clock_.Now());
  INTERCOM_ASSIGN_OR_RETURN(v1::RunResult result, store_.Result(run.number));
  *settled.mutable_result() = Excerpt(std::move(result), characters);
  return settled;
}

void RunDesk::ListRuns(CallerEvidence evidence, v1::ListRunsRequest request,
                       Done<v1::ListRunsResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    const auto list = [&]() -> absl::StatusOr<v1::ListRunsResponse> {
      INTERCOM_ASSIGN_OR_RETURN(
          const Caller caller,
          workspaces_.callers().ResolveFor(Operation::kRunSupervise, evidence));
      INTERCOM_ASSIGN_OR_RETURN(auto runs,
                                FindRuns(caller.session_id, request.run_ids()));
      std::sort(runs.begin(), runs.end(), [](const RunRow& a, const RunRow& b) {
        return a.number < b.number;
      });
      v1::ListRunsResponse response;
      for (const RunRow& run : runs) {
        if (response.runs_size() == kMaxListed) break;
        *response.add_runs() = ToProto(run, clock_.Now());
      }
      response.set_left_out(static_cast<int64_t>(runs.size()) -
                            response.runs_size());
      return response;
    };
    done(list());
  });
}

void RunDesk::GetRun(CallerEvidence evidence, v1::GetRunRequest request,
                     Done<v1::GetRunResponse> done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    run_id = request.run_id(),
                    done = std::move(done)]() mutable {
    const auto get = [&]() -> absl::StatusOr<v1::GetRunResponse> {
      INTERCOM_ASSIGN_OR_RETURN(
          const Caller caller,
          workspaces_.callers().ResolveFor(Operation::kRunSupervise, evidence));
      INTERCOM_ASSIGN_OR_RETURN(const RunRow run,
                                FindRun(caller.session_id, run_id));
      if (run.open()) {
        return Error(absl::StatusCode::kFailedPrecondition, "RUN_OPEN",
                     RunId(run.number) +
                         " has not settled; peek shows how it goes, and wait "
                         "waits for it" +
                         (run.detail.empty() ? "" : ". So far " + run.detail));
      }
      v1::GetRunResponse response;
      INTERCOM_ASSIGN_OR_RETURN(*response.mutable_settled(),
                                DescribeSettled(run, kMaxResultBytes));
      return response;
    };
    done(get());
  });
}

bool RunDesk::IsPresent(const SessionKey& key) const {
  const Attachment* attachment = roster_.Find(key.session_id);
  return attachment != nullptr && attachment->epoch == key.epoch;
}

void RunDesk::OnPolicy(SessionKey key, v1::RunPolicy policy) {
  runner_.PostTask([this, key = std::move(key), refuses = policy.refuses()] {
    if (!IsPresent(key)) return;
    roster_.Find(key.session_id)->hello.set_refuses_runs(refuses);
    if (refuses && on_refused_) on_refused_(key.session_id);
  });
}

}  // namespace intercom
