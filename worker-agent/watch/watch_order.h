#ifndef PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_ORDER_H_
#define PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_ORDER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// What is to be watched, and for what.
struct WatchOrder {
  // A program's name or path, and its arguments, all of them literal.
  std::string command;
  std::vector<std::string> args;
  // For people and the model; never empty.
  std::string label;
  enum class Mode { kOutput, kExit } mode = Mode::kOutput;
  absl::Duration deadline = absl::Minutes(10);
  int max_events = 1;
};

// The order of a call with the action `arm`, whose arguments keep the tool's
// schema. INVALID_ARGUMENT (ARGUMENT_INVALID) names what is missing, too much,
// or can't be part of a command.
absl::StatusOr<WatchOrder> WatchOrderOf(const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_ORDER_H_
