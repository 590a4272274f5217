#include "worker-agent/host/rpc_error.h"

#include <array>
#include <cstddef>
#include <string>

#include "broker/base/error.h"

namespace intercom {
namespace {

constexpr std::array<std::string_view, 17> kCodeNames = {"OK",
                                                         "CANCELLED",
                                                         "UNKNOWN",
                                                         "INVALID_ARGUMENT",
                                                         "DEADLINE_EXCEEDED",
                                                         "NOT_FOUND",
                                                         "ALREADY_EXISTS",
                                                         "PERMISSION_DENIED",
                                                         "RESOURCE_EXHAUSTED",
                                                         "FAILED_PRECONDITION",
                                                         "ABORTED",
                                                         "OUT_OF_RANGE",
                                                         "UNIMPLEMENTED",
                                                         "INTERNAL",
                                                         "UNAVAILABLE",
                                                         "DATA_LOSS",
                                                         "UNAUTHENTICATED"};

int RpcCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kUnimplemented:
      return kRpcUnknownMethod;
    case absl::StatusCode::kInvalidArgument:
      return kRpcInvalidParams;
    default:
      return kRpcServerError;
  }
}

}  // namespace

std::string_view CodeName(absl::StatusCode code) {
  const auto index = static_cast<size_t>(code);
  return index < kCodeNames.size() ? kCodeNames[index] : "UNKNOWN";
}

Json RpcErrorMessage(const Json& id, int rpc_code, std::string_view message) {
  return {{"jsonrpc", "2.0"},
          {"id", id},
          {"error", {{"code", rpc_code}, {"message", message}}}};
}

Json RpcErrorMessage(const Json& id, const absl::Status& status) {
  Json answer = RpcErrorMessage(id, RpcCode(status), MessageOf(status));
  answer["error"]["data"] = {{"code", CodeName(status.code())},
                             {"reason", ReasonOf(status)}};
  return answer;
}

absl::Status StatusOfRpcError(const Json& error) {
  const Json& data = Field(error, "data");
  const std::string name = StringOr(data, "code", "UNKNOWN");
  auto code = absl::StatusCode::kUnknown;
  for (size_t i = 1; i < kCodeNames.size(); ++i) {
    if (kCodeNames[i] == name) code = static_cast<absl::StatusCode>(i);
  }
  return Error(code, StringOr(data, "reason", "HOST_ERROR"),
               StringOr(error, "message", "the host gave no reason"));
}

}  // namespace intercom
