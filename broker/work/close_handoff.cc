// The handoff of a worker that is being closed: saved in the config and in the
// store, before the worker hears that it is.
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"
#include "broker/work/close_desk.h"
#include "broker/work/job_text.h"

namespace intercom {
namespace {

absl::Status CheckSummary(const std::string& summary) {
  const auto invalid = [](const std::string& what) {
    return Error(absl::StatusCode::kInvalidArgument, "SUMMARY_INVALID",
                 "the handoff's summary " + what + "; nothing was saved");
  };
  const std::optional<size_t> characters = CountCharacters(summary);
  if (!characters.has_value()) return invalid("is not UTF-8");
  if (IsBlank(summary)) return invalid("is empty");
  if (*characters > CloseDesk::kMaxSummaryCharacters) {
    return invalid("has " + std::to_string(*characters) +
                   " characters, the limit is 4,000");
  }
  return absl::OkStatus();
}

}  // namespace

struct CloseDesk::Report {
  v1::ReportHandoffRequest request;
  Done<v1::ReportHandoffResponse> done;

  void Answer(const JobRow& job) {
    v1::ReportHandoffResponse response;
    *response.mutable_job() = ToProto(job);
    done(std::move(response));
  }
};

void CloseDesk::ReportHandoff(CallerEvidence evidence,
                              v1::ReportHandoffRequest request,
                              Done<v1::ReportHandoffResponse> done) {
  if (absl::Status valid = CheckSummary(request.summary()); !valid.ok()) {
    return done(valid);
  }
  auto report = std::make_shared<Report>();
  report->request = std::move(request);
  report->done = std::move(done);
  workspaces_.Decide(
      evidence, "", Operation::kHandoffReport, /*last_good=*/false,
      [this, report](const DecidedCall& call, Effects& effects) {
        return CheckReport(call, report, effects);
      },
      [this, report, evidence](const absl::Status& status) {
        if (IsUnsaved(evidence, report->request.job_id(), status)) {
          return HandoffFailed(report, status);
        }
        report->done(status);
      });
}

bool CloseDesk::IsUnsaved(const CallerEvidence& evidence,
                          const std::string& job_id,
                          const absl::Status& status) {
  // What may pass, as a file system that is slow, is not the end.
  if (ReasonOf(status) != "CONFIG_INVALID") return false;
  const auto caller = workspaces_.callers().Resolve(evidence);
  const JobRow* job = fences_.Find(job_id);
  const Run* run = FindRun(job_id);
  return run != nullptr && !run->saving && caller.ok() &&
         caller->origin == v1::ORIGIN_SESSION && job != nullptr &&
         job->kind == v1::Job::KIND_CLOSE &&
         job->session_id == caller->session_id &&
         job->state == v1::Job::STATE_AWAITING_HANDOFF;
}

absl::Status CloseDesk::CheckReport(const DecidedCall& call, ReportPtr report,
                                    Effects& effects) {
  const std::string& id = report->request.job_id();
  INTERCOM_ASSIGN_OR_RETURN(const auto job, store_.Find(id));
  if (!job.has_value() || job->kind != v1::Job::KIND_CLOSE ||
      job->root != call.workspace->root ||
      job->session_id != call.caller.session_id) {
    return UnknownJob(id);
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto saved,
                            handoffs_.Find(job->root, job->session_id));
  if (saved.has_value() && saved->job_id() == id) {
    if (saved->summary() != report->request.summary()) {
      return Error(absl::StatusCode::kAlreadyExists, "HANDOFF_DIFFERS",
                   "this job has another handoff already, which stays; end "
                   "the turn and wait");
    }
    effects.AfterSync([report, job = *job] { report->Answer(job); });
    return absl::OkStatus();
  }
  if (!job->pending()) return JobEnded(*job);
  if (job->state != v1::Job::STATE_AWAITING_HANDOFF) {
    return Error(absl::StatusCode::kFailedPrecondition, "HANDOFF_NOT_AWAITED",
                 "the " + Describe(*job) +
                     " waits for no handoff now; report when it is asked for");
  }
  effects.AfterCommit([this, report, job = *job] { SaveHandoff(report, job); });
  return absl::OkStatus();
}

void CloseDesk::SaveHandoff(ReportPtr report, const JobRow& job) {
  Run* run = FindRun(job.job_id);
  if (run == nullptr) return report->done(JobEnded(job));
  if (run->saving) {
    return report->done(
        Error(absl::StatusCode::kUnavailable, "HANDOFF_BEING_SAVED",
              "a handoff of this job is being saved at this moment; call "
              "again to learn whether it was"));
  }
  run->saving = true;
  JobRow saved = job;
  saved.state = v1::Job::STATE_AWAITING_SETTLEMENT;
  saved.updated_at = clock_.Now();
  v1::Handoff handoff;
  handoff.set_job_id(job.job_id);
  handoff.set_summary(report->request.summary());
  *handoff.mutable_updated_at() = ToProto(saved.updated_at);
  record_.PublishHandoff(
      ToProto(saved), handoff,
      [this, report, saved, handoff](const absl::Status& published) {
        if (!published.ok()) return HandoffFailed(report, published);
        StoreHandoff(report, saved, handoff);
      });
}

void CloseDesk::StoreHandoff(ReportPtr report, const JobRow& saved,
                             const v1::Handoff& handoff) {
  runner_.PostCommand(
      {[this, report, saved, handoff](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(const auto job, store_.Find(saved.job_id));
         if (!job.has_value()) return UnknownJob(saved.job_id);
         if (job->state != v1::Job::STATE_AWAITING_HANDOFF) {
           return JobEnded(*job);
         }
         INTERCOM_RETURN_IF_ERROR(
             handoffs_.Put(saved.root, saved.session_id, handoff));
         INTERCOM_RETURN_IF_ERROR(jobs_.Put(saved, effects));
         effects.AfterSync([report, saved] { report->Answer(saved); });
         return absl::OkStatus();
       },
       [this, report](const absl::Status& status) {
         if (ReasonOf(status) == "JOB_ENDED") return report->done(status);
         HandoffFailed(report, status);
       }});
}

void CloseDesk::HandoffFailed(ReportPtr report, const absl::Status& why) {
  const std::string detail =
      "the handoff could not be saved: " + MessageOf(why);
  Fail(report->request.job_id(), "save_failed", detail);
  report->done(Error(absl::StatusCode::kAborted, "HANDOFF_NOT_SAVED",
                     detail + ". The close job failed; the session goes on"));
}

}  // namespace intercom
