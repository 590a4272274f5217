#ifndef PI_INTERCOM_WORKER_AGENT_HOST_PRIVATE_STDOUT_H_
#define PI_INTERCOM_WORKER_AGENT_HOST_PRIVATE_STDOUT_H_

#include "absl/status/statusor.h"

namespace intercom {

// Moves standard output to a descriptor of its own and lets 1 point at standard
// error, so that nothing that a library prints gets into the protocol. Call
// once, before any thread starts.
absl::StatusOr<int> TakeStdout();

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HOST_PRIVATE_STDOUT_H_
