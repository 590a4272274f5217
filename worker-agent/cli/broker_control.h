#ifndef PI_INTERCOM_WORKER_AGENT_CLI_BROKER_CONTROL_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_BROKER_CONTROL_H_

#include <sys/types.h>

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace intercom {

// How a broker was ended.
struct BrokerEnd {
  pid_t pid = 0;
  bool killed = false;
};

// Ends the process that holds the broker's lock of `home`: SIGTERM, then, if
// `kill_after` is finite, SIGKILL after that time. The process is held on to by
// a descriptor and checked to be the holder still, so that no other process is
// ever hit. Blocks until it is gone.
//
// NOT_FOUND (BROKER_NOT_RUNNING) if nobody holds the lock. DEADLINE_EXCEEDED
// (BROKER_STILL_RUNNING) if it is there after `timeout`.
absl::StatusOr<BrokerEnd> EndBroker(const std::string& home,
                                    absl::Duration kill_after,
                                    absl::Duration timeout);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_BROKER_CONTROL_H_
