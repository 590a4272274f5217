#include "broker/work/headless_workers.h"

#include <set>
#include <utility>

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

absl::StatusOr<int> HeadlessWorkers::CountLive(
    std::string_view supervisor, const ProcessWatch& watch) const {
  // A host may have had several sessions.
  std::set<std::pair<int64_t, int64_t>> hosts;
  int of_unknown_host = 0;
  INTERCOM_ASSIGN_OR_RETURN(const auto attached, AttachedOf(supervisor));
  for (const Attachment* worker : attached) {
    const int64_t ticks = worker->hello.host_start_ticks();
    if (ProcessWatch::IsKnown(worker->host_pid, ticks)) {
      hosts.emplace(worker->host_pid, ticks);
    } else {
      ++of_unknown_host;
    }
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto known, sessions_.LaunchedBy(supervisor, kHeadlessLauncher));
  for (const SessionRow& row : known) {
    if (watch.IsAlive(row.host_pid, row.host_start_ticks)) {
      hosts.emplace(row.host_pid, row.host_start_ticks);
    }
  }
  return static_cast<int>(hosts.size()) + of_unknown_host;
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
