#include "broker/work/job_news.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/work/subject.h"
#include "spdlog/spdlog.h"

namespace intercom {

void JobNews::Tell(const JobRow& job, std::string topic, std::string text) {
  runner_.PostCommand(
      {[this, job, topic = std::move(topic),
        text = std::move(text)](Effects& effects) -> absl::Status {
         const auto workspace = mirror_.Find(job.root);
         if (workspace == nullptr) return absl::OkStatus();
         v1::Sender subject = BrokerSender();
         // A create has no session to speak of.
         if (!job.session_id.empty()) {
           subject.set_session_id(job.session_id);
           subject.set_name(job.name);
           subject.set_role(workspace->RoleOf(job.session_id));
           subject.set_workspace_root(job.root);
         }
         return dispatcher_.AcceptNotice(subject, CoordinatorOf(*workspace),
                                         topic, text, /*quiet=*/false, effects);
       },
       [id = job.job_id](const absl::Status& status) {
         spdlog::error("the coordinator was not told of job {}: {}", id,
                       MessageOf(status));
       }});
}

}  // namespace intercom
