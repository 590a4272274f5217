#include "broker/work/job_news.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/identity.h"
#include "broker/work/subject.h"
#include "spdlog/spdlog.h"

namespace intercom {

void JobNews::Tell(const JobRow& job, std::string topic, std::string text) {
  runner_.PostCommand(
      {[this, job, topic = std::move(topic), text = std::move(text)](
           Effects& effects) { return Accept(job, topic, text, effects); },
       [id = job.job_id](const absl::Status& status) {
         spdlog::error("the coordinator was not told of job {}: {}", id,
                       MessageOf(status));
       }});
}

void JobNews::NeedNotTell(const JobRow& job) {
  runner_.PostCommand(
      {[this, id = job.job_id](Effects& effects) {
         return jobs_.MarkTold(id, Told::kEnd, effects).status();
       },
       [id = job.job_id](const absl::Status& status) {
         spdlog::warn("job {} may be told once more: {}", id,
                      MessageOf(status));
       }});
}

absl::Status JobNews::Accept(const JobRow& job, std::string_view topic,
                             std::string_view text, Effects& effects) {
  const auto workspace = mirror_.Find(job.root);
  if (workspace == nullptr) return absl::OkStatus();
  // In one transaction with the notice: neither is without the other.
  INTERCOM_ASSIGN_OR_RETURN(
      const bool is_first,
      jobs_.MarkTold(job.job_id, job.open() ? Told::kOpen : Told::kEnd,
                     effects));
  if (!is_first) return absl::OkStatus();
  const Recipient coordinator = CoordinatorOf(*workspace);
  v1::Sender subject = BrokerSender();
  if (job.session_id.empty()) {
    // A create has no session to speak of: that of one job must not replace
    // that of another.
    return dispatcher_.AddNotice(subject, coordinator, topic, text,
                                 /*quiet=*/false, effects);
  }
  subject.set_session_id(job.session_id);
  subject.set_name(job.name);
  subject.set_role(workspace->RoleOf(job.session_id));
  subject.set_workspace_root(job.root);
  return dispatcher_.AcceptNotice(subject, coordinator, topic, text,
                                  /*quiet=*/false, effects);
}

}  // namespace intercom
