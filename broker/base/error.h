#ifndef PI_INTERCOM_BROKER_BASE_ERROR_H_
#define PI_INTERCOM_BROKER_BASE_ERROR_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace intercom {

// A status that programs can tell apart by `reason`, a stable
// UPPER_SNAKE_CASE word, and that tells a person in `message` what happened, to
// what, and what to do next. `code` must not be OK.
absl::Status Error(absl::StatusCode code, std::string_view reason,
                   std::string_view message);

// The reason given to Error(), or "" for other statuses.
std::string ReasonOf(const absl::Status& status);

// The message of `status` as a standard string.
std::string MessageOf(const absl::Status& status);

// A status for a failed system call: "<what>: <text of errno_value>". Picks the
// code by errno: a full disk is RESOURCE_EXHAUSTED (reason STORAGE_FULL),
// missing is NOT_FOUND, denied is PERMISSION_DENIED, otherwise UNAVAILABLE.
absl::Status ErrnoError(int errno_value, std::string_view what);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_ERROR_H_
