#ifndef PI_INTERCOM_BROKER_WORK_JOB_FACTS_H_
#define PI_INTERCOM_BROKER_WORK_JOB_FACTS_H_

#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// What others show or must respect of the jobs of a worker, told by workspace
// root and session id. Each is called on the state's thread; as they are here,
// there are no jobs.
struct JobFacts {
  template <typename Answer>
  using Ask = std::function<Answer(const std::string& root,
                                   const std::string& session_id)>;

  // OK, or FAILED_PRECONDITION (WORKER_FENCED) naming the job.
  Ask<absl::Status> check_fence = [](const auto&, const auto&) {
    return absl::OkStatus();
  };
  Ask<absl::StatusOr<std::optional<v1::Job>>> latest_close =
      [](const auto&, const auto&) { return std::nullopt; };
  Ask<absl::StatusOr<std::optional<v1::Handoff>>> handoff =
      [](const auto&, const auto&) { return std::nullopt; };
  // Inside a command: forgets the handoff.
  Ask<absl::Status> forget_handoff = [](const auto&, const auto&) {
    return absl::OkStatus();
  };
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_JOB_FACTS_H_
