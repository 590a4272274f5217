#ifndef PI_INTERCOM_BROKER_RPC_SERVE_H_
#define PI_INTERCOM_BROKER_RPC_SERVE_H_

#include <grpcpp/support/server_callback.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/rpc/broker_core.h"
#include "broker/rpc/peers.h"
#include "broker/rpc/serial_executor.h"
#include "broker/rpc/status_conversion.h"

namespace intercom {

// What every adapter needs. All outlive the server.
struct AdapterContext {
  BrokerCore core;
  Peers& peers;
  // Starts gRPC writes: StartWrite does its sendmsg on the calling thread,
  // which must never be the state's.
  SerialExecutor& executor;
};

// Finishes a unary call on the executor: the core answers on threads that must
// not write.
inline void FinishLater(SerialExecutor& executor,
                        grpc::CallbackServerContext* context,
                        grpc::ServerUnaryReactor* reactor,
                        absl::Status status) {
  executor.Post([context, reactor, status = std::move(status)] {
    if (!status.ok()) {
      context->AddTrailingMetadata(kReasonMetadata, WireReason(status));
    }
    reactor->Finish(ToGrpc(status));
  });
}

// One unary call on `reactor`: `call(evidence, done)` hands it to the core,
// which calls `done(StatusOr<Answer>)` once; `fill(answer)` writes it into the
// response.
template <typename Answer, typename Call, typename Fill>
void ServeOn(const AdapterContext& adapter,
             grpc::CallbackServerContext* context,
             grpc::ServerUnaryReactor* reactor, Call call, Fill fill) {
  SerialExecutor& executor = adapter.executor;
  if (const absl::Status busy = adapter.core.admission.Check(); !busy.ok()) {
    return FinishLater(executor, context, reactor, busy);
  }
  adapter.peers.FindEvidence(
      *context, [&executor, context, reactor, call = std::move(call),
                 fill = std::move(fill)](
                    absl::StatusOr<CallerEvidence> evidence) mutable {
        if (!evidence.ok()) {
          return FinishLater(executor, context, reactor, evidence.status());
        }
        call(*std::move(evidence),
             [&executor, context, reactor,
              fill = std::move(fill)](absl::StatusOr<Answer> answer) mutable {
               if (answer.ok()) fill(*std::move(answer));
               FinishLater(executor, context, reactor, answer.status());
             });
      });
}

// The same on the reactor that needs nothing more.
template <typename Answer, typename Call, typename Fill>
grpc::ServerUnaryReactor* Serve(const AdapterContext& adapter,
                                grpc::CallbackServerContext* context, Call call,
                                Fill fill) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  ServeOn<Answer>(adapter, context, reactor, std::move(call), std::move(fill));
  return reactor;
}

// A call whose answer is the response itself.
template <typename Response, typename Call>
grpc::ServerUnaryReactor* ServeWhole(const AdapterContext& adapter,
                                     grpc::CallbackServerContext* context,
                                     Response* response, Call call) {
  return Serve<Response>(
      adapter, context, std::move(call),
      [response](Response answer) { *response = std::move(answer); });
}

// A call that `method` of `desk` answers.
template <typename Desk, typename Request, typename Response, typename Done>
grpc::ServerUnaryReactor* ServeBy(
    const AdapterContext& adapter, grpc::CallbackServerContext* context,
    const Request* request, Response* response, Desk& desk,
    void (Desk::*method)(CallerEvidence, Request, Done)) {
  return ServeWhole(
      adapter, context, response,
      [&desk, method, request](CallerEvidence evidence, auto done) {
        (desk.*method)(std::move(evidence), *request, std::move(done));
      });
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_SERVE_H_
