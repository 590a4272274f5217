#ifndef PI_INTERCOM_BROKER_RPC_AWAIT_CALL_H_
#define PI_INTERCOM_BROKER_RPC_AWAIT_CALL_H_

#include <memory>

#include "broker/rpc/serve.h"
#include "intercom/v1/ask.pb.h"

namespace intercom {

// An AwaitReply call: no thread waits for it, and when its client goes away the
// desk forgets it. gRPC owns it.
class AwaitCall final : public grpc::ServerUnaryReactor {
 public:
  static grpc::ServerUnaryReactor* Serve(const AdapterContext& adapter,
                                         grpc::CallbackServerContext* context,
                                         const v1::AwaitReplyRequest& request,
                                         v1::AwaitReplyResponse& response);

  void OnCancel() override;
  void OnDone() override { delete this; }

 private:
  // Outlives the call where the desk is still to be told.
  class Ticket;

  explicit AwaitCall(AskDesk& asks);

  const std::shared_ptr<Ticket> ticket_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_AWAIT_CALL_H_
