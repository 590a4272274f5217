#ifndef PI_INTERCOM_BROKER_SERVER_PORT_CHOICE_H_
#define PI_INTERCOM_BROKER_SERVER_PORT_CHOICE_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace intercom {

// The port to listen on at 127.0.0.1: `fixed` if it is positive, else the first
// of `preferred` that is free (0 stands for none), else the system's choice,
// which is free for the moment. UNAVAILABLE (PORT_IN_USE): `fixed` is taken.
absl::StatusOr<int> ChoosePort(int fixed, const std::vector<int>& preferred);

absl::Status PortInUse(int port);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_SERVER_PORT_CHOICE_H_
