#ifndef PI_INTERCOM_WORKER_AGENT_HOST_RPC_ERROR_H_
#define PI_INTERCOM_WORKER_AGENT_HOST_RPC_ERROR_H_

#include <string_view>

#include "absl/status/status.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

inline constexpr int kRpcInvalidRequest = -32600;
inline constexpr int kRpcUnknownMethod = -32601;
inline constexpr int kRpcInvalidParams = -32602;
inline constexpr int kRpcServerError = -32000;

// The gRPC name of a code: "FAILED_PRECONDITION".
std::string_view CodeName(absl::StatusCode code);

// A JSON-RPC error answer of the protocol itself.
Json RpcErrorMessage(const Json& id, int rpc_code, std::string_view message);

// A JSON-RPC error answer whose `data` is the status's code and reason.
Json RpcErrorMessage(const Json& id, const absl::Status& status);

// The status that a host's error object stands for. Never OK.
absl::Status StatusOfRpcError(const Json& error);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HOST_RPC_ERROR_H_
