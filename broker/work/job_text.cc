#include "broker/work/job_text.h"

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "broker/domain/job.h"

namespace intercom {
namespace {

constexpr size_t kIdCharacters = 8;

absl::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

v1::Job ToProto(const JobRow& row) {
  v1::Job job;
  job.set_job_id(row.job_id);
  job.set_kind(row.kind);
  job.set_workspace_root(row.root);
  job.set_session_id(row.session_id);
  job.set_name(row.name);
  job.set_state(row.state);
  job.set_reason(row.reason);
  job.set_detail(row.detail);
  *job.mutable_created_at() = ToProto(row.created_at);
  *job.mutable_updated_at() = ToProto(row.updated_at);
  if (row.deadline_at.has_value()) {
    *job.mutable_deadline_at() = ToProto(*row.deadline_at);
  }
  job.set_launcher(row.launcher);
  job.set_fences(row.fences());
  return job;
}

std::string Describe(const JobRow& row) {
  return absl::StrCat(View(JobKindName(row.kind)), " job ",
                      row.job_id.substr(0, kIdCharacters), " (",
                      View(JobStateName(row.state)), ")");
}

std::string WorkerOf(const JobRow& row) {
  if (!row.name.empty()) return NameOr(row.name, row.session_id);
  if (!row.session_id.empty()) return "session " + row.session_id;
  return row.kind == v1::Job::KIND_OPEN
             ? "a session in " + SafeLabel(row.root, 300)
             : "a new worker";
}

absl::Status WorkerFenced(const JobRow& job) {
  std::string way_out = "; wait until that ends";
  if (job.state == v1::Job::STATE_UNCERTAIN ||
      job.state == v1::Job::STATE_SUBMITTED) {
    way_out =
        "; if it never ends, a person ends it with intercom job resolve " +
        job.job_id;
  }
  return Error(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED",
               "nothing was done: " + WorkerOf(job) + " has a " +
                   Describe(job) + way_out);
}

absl::Status UnknownJob(std::string_view id) {
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_JOB",
               "there is no job of this caller's workspace with the id " +
                   QuotedLine(id, 128) + "; intercom jobs lists them");
}

absl::Status JobEnded(const JobRow& job) {
  std::string message =
      "the " + Describe(job) + " of " + WorkerOf(job) + " has ended already";
  if (!job.detail.empty()) message += ": " + SafeLabel(job.detail, 512);
  return Error(absl::StatusCode::kFailedPrecondition, "JOB_ENDED", message);
}

}  // namespace intercom
