#include "broker/rpc/status_conversion.h"

#include "broker/base/error.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

std::string WireMessage(const absl::Status& status) {
  if (status.code() == absl::StatusCode::kInternal ||
      status.code() == absl::StatusCode::kDataLoss) {
    spdlog::error("{} {}", WireReason(status), MessageOf(status));
    return "the broker failed; its log says why (intercom broker path)";
  }
  return MessageOf(status);
}

}  // namespace

std::string WireReason(const absl::Status& status) {
  std::string reason = ReasonOf(status);
  return reason.empty() ? "INTERNAL" : reason;
}

grpc::Status ToGrpc(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  return grpc::Status(static_cast<grpc::StatusCode>(status.code()),
                      WireMessage(status));
}

v1::Failure ToFailure(const absl::Status& status) {
  v1::Failure failure;
  failure.set_code(static_cast<int32_t>(status.code()));
  failure.set_reason(WireReason(status));
  failure.set_message(WireMessage(status));
  return failure;
}

}  // namespace intercom
