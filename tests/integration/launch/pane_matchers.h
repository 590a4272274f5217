#ifndef PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_PANE_MATCHERS_H_
#define PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_PANE_MATCHERS_H_

#include <string>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"

namespace intercom {

MATCHER_P(IsMismatch, what, "says that this differs") {
  const absl::Status& status = StatusOf(arg);
  *result_listener << "which is " << status.ToString();
  return ReasonOf(status) == "IDENTITY_MISMATCH" &&
         std::string(status.message()).find(what) != std::string::npos;
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_PANE_MATCHERS_H_
