#ifndef PI_INTERCOM_BROKER_RPC_STATUS_CONVERSION_H_
#define PI_INTERCOM_BROKER_RPC_STATUS_CONVERSION_H_

#include <grpcpp/support/status.h>

#include <string>

#include "absl/status/status.h"
#include "intercom/v1/session.pb.h"

namespace intercom {

// Trailing metadata that carries the stable reason of a failure.
inline constexpr char kReasonMetadata[] = "intercom-reason";

// The one way of a status onto the wire. The text of INTERNAL and DATA_LOSS
// stays in the log: it is about our own state.
grpc::Status ToGrpc(const absl::Status& status);

// The same inside a stream.
v1::Failure ToFailure(const absl::Status& status);

// The reason of `status` for programs; "INTERNAL" when it has none.
std::string WireReason(const absl::Status& status);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_STATUS_CONVERSION_H_
