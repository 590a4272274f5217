#ifndef PI_INTERCOM_WORKER_AGENT_LINK_BROKER_ADDRESS_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_BROKER_ADDRESS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace intercom {

// Where a broker listens, in gRPC's terms.
struct BrokerAddress {
  std::string target;
  // For the `authorization` metadata; empty on the Unix socket.
  std::string bearer_token;
};

// The Unix socket of the state directory `home`.
BrokerAddress UnixAddress(std::string_view home);

// The TCP listener that `home`'s endpoint.json and token name. NOT_FOUND
// (BROKER_NOT_RUNNING) if they aren't there; DATA_LOSS (ENDPOINT_INVALID) if
// endpoint.json has no port.
absl::StatusOr<BrokerAddress> TcpAddress(std::string_view home);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_BROKER_ADDRESS_H_
