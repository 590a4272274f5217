#ifndef PI_INTERCOM_WORKER_AGENT_CLI_FAILURE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_FAILURE_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace intercom {

// How a failure is told on standard error: in one line of JSON (CommandFailure)
// for programs, in a sentence for people. Ends with LF, and is safe to print.
// `status` is not OK.
std::string FailureText(const absl::Status& status, bool json);

// A misuse as CommandFailure, with what the parser says of it.
std::string MisuseText(std::string_view complaint);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_FAILURE_H_
