#ifndef PI_INTERCOM_TESTS_SUPPORT_STATUS_MATCHERS_H_
#define PI_INTERCOM_TESTS_SUPPORT_STATUS_MATCHERS_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/base/error.h"
#include "gmock/gmock.h"

namespace intercom {

inline const absl::Status& StatusOf(const absl::Status& status) {
  return status;
}
template <typename T>
const absl::Status& StatusOf(const absl::StatusOr<T>& value) {
  return value.status();
}

MATCHER(IsOk, "is OK") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).ok();
}

// Matches by the stable parts: the code and the reason.
MATCHER_P2(FailsWith, code, reason, "fails with that code and reason") {
  *result_listener << "which is " << StatusOf(arg).ToString() << " reason "
                   << ReasonOf(StatusOf(arg));
  return StatusOf(arg).code() == code && ReasonOf(StatusOf(arg)) == reason;
}

MATCHER_P(HasCode, code, "has that code") {
  *result_listener << "which is " << StatusOf(arg).ToString();
  return StatusOf(arg).code() == code;
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_STATUS_MATCHERS_H_
