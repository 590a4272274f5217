#ifndef PI_INTERCOM_WORKER_AGENT_NOT_CONNECTED_H_
#define PI_INTERCOM_WORKER_AGENT_NOT_CONNECTED_H_

#include "broker/base/error.h"

namespace intercom {

// What a call gets that no broker can be asked for.
inline absl::Status NotConnected() {
  return Error(absl::StatusCode::kUnavailable, "NOT_CONNECTED",
               "not connected to the broker now; nothing was done, repeat the "
               "call later");
}

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_NOT_CONNECTED_H_
