#include "broker/work/close_record.h"

#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/config/config_edit.h"
#include "spdlog/spdlog.h"

namespace intercom {

void CloseRecord::Publish(const v1::Job& job,
                          const std::optional<v1::Handoff>& handoff) {
  Update(job, handoff, [id = job.job_id()](const absl::Status& status) {
    if (status.ok()) return;
    spdlog::warn("job {} was not recorded in the config: {}", id,
                 MessageOf(status));
  });
}

void CloseRecord::PublishHandoff(
    const v1::Job& job, const v1::Handoff& handoff,
    absl::AnyInvocable<void(const absl::Status&)> done) {
  Update(job, handoff, std::move(done));
}

void CloseRecord::Update(const v1::Job& job,
                         const std::optional<v1::Handoff>& handoff,
                         absl::AnyInvocable<void(const absl::Status&)> done) {
  const int64_t ticket = ++last_ticket_;
  unpublished_[job.job_id()] = {job, handoff, /*under_way=*/true, ticket};
  Try(
      job,
      [job, handoff](const ReadConfig& read) {
        return SetCloseJob(read.bytes, job,
                           handoff.has_value() ? &*handoff : nullptr);
      },
      ticket, kAttempts, std::move(done));
}

void CloseRecord::Try(const v1::Job& job, ConfigLanes::Edit edit,
                      int64_t ticket, int attempts,
                      absl::AnyInvocable<void(const absl::Status&)> done) {
  lanes_.Update(
      job.workspace_root(), edit, nullptr,
      [this, job, edit, ticket, attempts,
       done = std::move(done)](auto snapshot) mutable {
        const absl::Status status = snapshot.status();
        if (status.ok()) Mirror(*std::move(snapshot));
        const auto found = unpublished_.find(job.job_id());
        if (found != unpublished_.end() && found->second.ticket == ticket) {
          if (ReasonOf(status) == "CONFIG_CHANGED" && attempts > 1) {
            return Try(job, edit, ticket, attempts - 1, std::move(done));
          }
          // Without an entry there is nowhere to record it.
          if (status.ok() || ReasonOf(status) == "NO_ENTRY") {
            unpublished_.erase(found);
          } else {
            found->second.under_way = false;
          }
        }
        done(status);
      });
}

void CloseRecord::Mirror(ConfigSnapshotPtr snapshot) {
  runner_.PostCommand(
      {[this, snapshot](Effects& effects) {
         return mirror_.Apply(*snapshot, /*repin=*/false, effects).status();
       },
       nullptr});
}

void CloseRecord::OnMirrored(const Workspace& workspace) {
  if (!workspace.config_error.empty()) return;
  std::vector<Unpublished> again;
  for (const auto& [id, waiting] : unpublished_) {
    if (!waiting.under_way && waiting.job.workspace_root() == workspace.root) {
      again.push_back(waiting);
    }
  }
  for (const Unpublished& waiting : again) {
    Publish(waiting.job, waiting.handoff);
  }
}

}  // namespace intercom
