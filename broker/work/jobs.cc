#include "broker/work/jobs.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/job.h"
#include "spdlog/spdlog.h"

namespace intercom {

absl::Status Jobs::Put(const JobRow& row, Effects& effects) {
  INTERCOM_RETURN_IF_ERROR(store_.Put(row));
  effects.AfterCommit([this, row] {
    spdlog::info("job={} kind={} session={} state={} reason={}", row.job_id,
                 JobKindName(row.kind), row.session_id, JobStateName(row.state),
                 row.reason);
    fences_.Keep(row);
    for (OnChanged& on_changed : on_changed_) on_changed(row);
  });
  return absl::OkStatus();
}

absl::StatusOr<bool> Jobs::MarkTold(const std::string& job_id, Told told,
                                    Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(auto row, store_.Find(job_id));
  if (!row.has_value() || row->told >= told) return false;
  row->told = told;
  INTERCOM_RETURN_IF_ERROR(store_.Put(*row));
  effects.AfterCommit([this, row = *row] { fences_.Keep(row); });
  return true;
}

void Jobs::Advance(const std::string& job_id, States from, Change change,
                   Then then) {
  auto shared_then = std::make_shared<Then>(std::move(then));
  runner_.PostCommand(
      {[this, job_id, from = std::move(from), change = std::move(change),
        shared_then](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(auto row, store_.Find(job_id));
         if (!row.has_value() ||
             std::find(from.begin(), from.end(), row->state) == from.end()) {
           return absl::OkStatus();
         }
         row->updated_at = clock_.Now();
         INTERCOM_RETURN_IF_ERROR(change(*row, effects));
         INTERCOM_RETURN_IF_ERROR(Put(*row, effects));
         effects.AfterSync([this, shared_then] {
           runner_.PostTask(
               [shared_then] { (*shared_then)(absl::OkStatus()); });
         });
         return absl::OkStatus();
       },
       [shared_then](const absl::Status& status) { (*shared_then)(status); }});
}

void Jobs::End(const std::string& job_id, States from, v1::Job::State state,
               std::string reason, std::string detail) {
  Advance(
      job_id, from,
      [state, reason, detail](JobRow& row, Effects&) {
        row.state = state;
        row.reason = reason;
        row.detail = detail;
        return absl::OkStatus();
      },
      [this, job_id, from, state, reason, detail](const absl::Status& status) {
        if (status.ok()) return;
        spdlog::error("the end of job {} ({}) was not stored: {}", job_id,
                      JobStateName(state), MessageOf(status));
        // Another end of it is no truer than this one.
        if (!ending_again_.insert(job_id).second) return;
        runner_.PostDelayedTask(
            [=, this] {
              ending_again_.erase(job_id);
              End(job_id, from, state, reason, detail);
            },
            kEndAgain);
      });
}

absl::Status Jobs::LoadAtStart() {
  INTERCOM_RETURN_IF_ERROR(Load());
  for (const JobRow& row : fences_.All()) left_over_.insert(row.job_id);
  return absl::OkStatus();
}

void Jobs::Recover() {
  runner_.PostCommand(
      {[this](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(const auto rows, store_.Open());
         for (JobRow row : rows) {
           if (!left_over_.contains(row.job_id) || !row.pending() ||
               row.state == v1::Job::STATE_SUBMITTED) {
             continue;
           }
           const bool begun = row.state == v1::Job::STATE_CLOSING;
           row.state =
               begun ? v1::Job::STATE_UNCERTAIN : v1::Job::STATE_INTERRUPTED;
           row.reason = "interrupted";
           row.detail =
               begun ? "the broker ended while the host was being closed"
                     : "the broker ended before anything irrevocable was done";
           row.updated_at = clock_.Now();
           INTERCOM_RETURN_IF_ERROR(Put(row, effects));
         }
         return absl::OkStatus();
       },
       [this](const absl::Status& status) {
         spdlog::error("jobs of the last broker are not settled: {}",
                       MessageOf(status));
         runner_.PostDelayedTask([this] { Recover(); }, kEndAgain);
       }});
}

}  // namespace intercom
