#include "broker/work/fences.h"

#include "broker/base/status_macros.h"
#include "broker/work/job_text.h"

namespace intercom {

absl::Status Fences::Load(JobStore& jobs) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<JobRow> rows, jobs.Open());
  open_.clear();
  for (const JobRow& row : rows) open_[row.job_id] = row;
  return absl::OkStatus();
}

void Fences::Keep(const JobRow& row) {
  if (row.open()) {
    open_[row.job_id] = row;
  } else {
    open_.erase(row.job_id);
  }
}

absl::Status Fences::Check(std::string_view root,
                           std::string_view session_id) const {
  const JobRow* job = JobOf(root, session_id);
  return job != nullptr && job->fences() ? WorkerFenced(*job)
                                         : absl::OkStatus();
}

// There are few: those of 16 closes, 64 launches and a stop a worker at most.
const JobRow* Fences::JobOf(std::string_view root,
                            std::string_view session_id) const {
  const JobRow* other = nullptr;
  for (const auto& [id, job] : open_) {
    if (job.root != root || job.session_id != session_id) continue;
    if (job.fences()) return &job;
    other = &job;
  }
  return other;
}

const JobRow* Fences::JobOf(std::string_view root, std::string_view session_id,
                            v1::Job::Kind kind) const {
  for (const auto& [id, job] : open_) {
    if (job.root == root && job.session_id == session_id && job.kind == kind) {
      return &job;
    }
  }
  return nullptr;
}

const JobRow* Fences::Find(std::string_view job_id) const {
  const auto found = open_.find(job_id);
  return found == open_.end() ? nullptr : &found->second;
}

std::vector<JobRow> Fences::All() const {
  std::vector<JobRow> all;
  for (const auto& [id, job] : open_) all.push_back(job);
  return all;
}

}  // namespace intercom
