#include "broker/work/close_record.h"

#include <memory>
#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/config/config_edit.h"
#include "spdlog/spdlog.h"

namespace intercom {

void CloseRecord::Publish(const v1::Job& job) {
  const int64_t attempt = ++last_attempt_;
  unpublished_[job.job_id()] = {job, /*under_way=*/true, attempt};
  lanes_.Update(
      job.workspace_root(),
      [job](const ReadConfig& read) {
        return SetCloseJob(read.bytes, job, nullptr);
      },
      nullptr,
      [this, id = job.job_id(), attempt](auto snapshot) {
        const auto found = unpublished_.find(id);
        const bool is_latest =
            found != unpublished_.end() && found->second.attempt == attempt;
        if (snapshot.ok()) {
          if (is_latest) unpublished_.erase(found);
          return Mirror(*std::move(snapshot));
        }
        spdlog::warn("job {} was not recorded in the config: {}", id,
                     MessageOf(snapshot.status()));
        if (!is_latest) return;
        if (ReasonOf(snapshot.status()) == "NO_ENTRY") {
          unpublished_.erase(found);  // There is nowhere to record it.
        } else {
          found->second.under_way = false;
        }
      });
}

void CloseRecord::PublishHandoff(
    const v1::Job& job, const v1::Handoff& handoff,
    absl::AnyInvocable<void(const absl::Status&)> done) {
  lanes_.Update(
      job.workspace_root(),
      [job, handoff](const ReadConfig& read) {
        return SetCloseJob(read.bytes, job, &handoff);
      },
      nullptr,
      [this, done = std::move(done)](auto snapshot) mutable {
        if (snapshot.ok()) Mirror(*snapshot);
        done(snapshot.status());
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
  std::vector<v1::Job> again;
  for (const auto& [id, waiting] : unpublished_) {
    if (!waiting.under_way && waiting.job.workspace_root() == workspace.root) {
      again.push_back(waiting.job);
    }
  }
  for (const v1::Job& job : again) Publish(job);
}

}  // namespace intercom
