#include "worker-agent/link/failure_policy.h"

#include <string>

#include "broker/base/error.h"

namespace intercom {

AfterFailure PolicyFor(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  switch (status.code()) {
    case absl::StatusCode::kAborted:
      return reason == "SUPERSEDED" || reason == "OLD_EPOCH"
                 ? AfterFailure::kSuperseded
                 : AfterFailure::kRetrySoon;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kUnauthenticated:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return AfterFailure::kGiveUp;
    case absl::StatusCode::kFailedPrecondition:
      return reason == "SESSION_ALREADY_ATTACHED" ||
                     reason == "SESSION_BELONGS_ELSEWHERE"
                 ? AfterFailure::kGiveUp
                 : AfterFailure::kRetryLater;
    default:
      break;
  }
  if (reason == "BROKER_NOT_FOUND") return AfterFailure::kGiveUp;
  if (reason == "BROKER_HUNG" || reason == "BROKER_DIED" ||
      reason == "BROKER_SILENT") {
    return AfterFailure::kRetryLater;
  }
  return AfterFailure::kRetrySoon;
}

}  // namespace intercom
