#include "broker/work/headless_workers.h"

#include "broker/base/status_macros.h"

namespace intercom {

absl::StatusOr<std::optional<std::string>> HeadlessWorkers::RequesterOf(
    std::string_view job_id) const {
  if (job_id.empty()) return std::nullopt;
  INTERCOM_ASSIGN_OR_RETURN(auto job, jobs_.Find(job_id));
  if (!job.has_value() || job->launcher != kHeadlessLauncher) {
    return std::nullopt;
  }
  return std::move(job->requested_by);
}

absl::StatusOr<std::optional<std::string>> HeadlessWorkers::SupervisorOf(
    std::string_view session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return RequesterOf(attachment->launch_job_id);
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto row, sessions_.Find(session_id));
  if (!row.has_value()) return std::nullopt;
  return RequesterOf(row->launch_job_id);
}

absl::StatusOr<std::vector<const Attachment*>> HeadlessWorkers::AttachedOf(
    std::string_view supervisor) const {
  std::vector<const Attachment*> found;
  for (const Attachment* attachment : roster_.All()) {
    INTERCOM_ASSIGN_OR_RETURN(const auto requester,
                              RequesterOf(attachment->launch_job_id));
    if (requester == supervisor) found.push_back(attachment);
  }
  return found;
}

absl::StatusOr<bool> HeadlessWorkers::HasLaunched(
    std::string_view session_id) const {
  return jobs_.HasLaunched(session_id, kHeadlessLauncher);
}

std::string HeadlessWorkers::NameOf(std::string_view session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return attachment->name();
  }
  const auto row = sessions_.Find(session_id);
  return row.ok() && row->has_value() ? (*row)->name : "";
}

}  // namespace intercom
