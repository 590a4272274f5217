#include "worker-agent/link/channel.h"

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "grpc/health/v1/health.pb.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/impl/codegen/client_unary_call.h"
#include "grpcpp/impl/codegen/proto_utils.h"
#include "grpcpp/security/credentials.h"

namespace intercom {
namespace {

constexpr char kReasonKey[] = "intercom-reason";
constexpr int kMaxMessageBytes = 4 << 20;

int Milliseconds(absl::Duration duration) {
  return static_cast<int>(absl::ToInt64Milliseconds(duration));
}

}  // namespace

std::shared_ptr<grpc::Channel> MakeChannel(const BrokerAddress& address,
                                           const ChannelTimings& timings) {
  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS,
                   Milliseconds(timings.ping_after));
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   Milliseconds(timings.ping_timeout));
  // A session may be silent for hours; its pings must not run out.
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 5000);
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  return grpc::CreateCustomChannel(
      address.target, grpc::InsecureChannelCredentials(), arguments);
}

void AddIdentity(grpc::ClientContext& context, std::string_view bearer_token,
                 std::string_view session_token) {
  if (!bearer_token.empty()) {
    context.AddMetadata("authorization", "Bearer " + std::string(bearer_token));
  }
  if (!session_token.empty()) {
    context.AddMetadata("intercom-session", std::string(session_token));
  }
}

void SetTimeout(grpc::ClientContext& context, absl::Duration timeout) {
  context.set_deadline(absl::ToChronoTime(SystemClock().Now() + timeout));
}

absl::Status FromGrpc(const grpc::Status& status,
                      const grpc::ClientContext& context) {
  if (status.ok()) return absl::OkStatus();
  const auto code = static_cast<absl::StatusCode>(status.error_code());
  const auto& trailers = context.GetServerTrailingMetadata();
  const auto found = trailers.find(kReasonKey);
  if (found != trailers.end()) {
    return Error(code, {found->second.data(), found->second.size()},
                 status.error_message());
  }
  switch (code) {
    case absl::StatusCode::kUnavailable:
      return Error(code, "BROKER_UNREACHABLE",
                   "the broker can't be reached: " + status.error_message());
    case absl::StatusCode::kDeadlineExceeded:
      return Error(code, "OUTCOME_UNKNOWN",
                   "the broker did not answer in time; what became of the call "
                   "is unknown");
    default:
      return Error(code, "", status.error_message());
  }
}

absl::Status CheckHealth(const std::shared_ptr<grpc::Channel>& channel,
                         absl::Duration timeout) {
  grpc::ClientContext context;
  SetTimeout(context, timeout);
  const grpc::health::v1::HealthCheckRequest request;
  grpc::health::v1::HealthCheckResponse response;
  const grpc::Status status = grpc::internal::BlockingUnaryCall(
      channel.get(),
      grpc::internal::RpcMethod("/grpc.health.v1.Health/Check",
                                grpc::internal::RpcMethod::NORMAL_RPC),
      &context, request, &response);
  if (!status.ok()) return FromGrpc(status, context);
  if (response.status() != grpc::health::v1::HealthCheckResponse::SERVING) {
    return Error(absl::StatusCode::kUnavailable, "BROKER_DRAINING",
                 "the broker is about to leave");
  }
  return absl::OkStatus();
}

}  // namespace intercom
