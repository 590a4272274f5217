#ifndef PI_INTERCOM_BROKER_RPC_AWAIT_CALL_H_
#define PI_INTERCOM_BROKER_RPC_AWAIT_CALL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "broker/base/mutex.h"
#include "broker/rpc/serve.h"

namespace intercom {

// A call that waits at a desk: no thread waits for it, and when its client goes
// away the desk forgets it. gRPC owns it.
class AwaitCall final : public grpc::ServerUnaryReactor {
 public:
  // `method` of `desk` begins the wait and returns the ticket by which
  // `desk.CancelWait` ends it.
  template <typename Desk, typename Request, typename Response, typename Done>
  static grpc::ServerUnaryReactor* Serve(
      const AdapterContext& adapter, grpc::CallbackServerContext* context,
      const Request& request, Response& response, Desk& desk,
      int64_t (Desk::*method)(CallerEvidence, Request, Done)) {
    auto* call =
        new AwaitCall([&desk](int64_t number) { desk.CancelWait(number); });
    ServeOn<Response>(
        adapter, context, call,
        // The call may be over, and gone, before the desk returns.
        [&desk, method, &request, ticket = call->ticket_](
            CallerEvidence evidence, auto done) {
          ticket->Set(
              (desk.*method)(std::move(evidence), request, std::move(done)));
        },
        [&response](Response answer) { response = std::move(answer); });
    return call;
  }

  void OnCancel() override { ticket_->Cancel(); }
  void OnDone() override { delete this; }

 private:
  // Which wait to end when the call is cancelled: either may be known first.
  // Outlives the call where the desk is still to be told.
  class Ticket {
   public:
    using CancelWait = std::function<void(int64_t number)>;
    explicit Ticket(CancelWait cancel_wait)
        : cancel_wait_(std::move(cancel_wait)) {}

    void Set(int64_t number) ABSL_LOCKS_EXCLUDED(mu_);
    void Cancel() ABSL_LOCKS_EXCLUDED(mu_);

   private:
    const CancelWait cancel_wait_;
    Mutex mu_;
    bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
    // 0 until the desk has it.
    int64_t number_ ABSL_GUARDED_BY(mu_) = 0;
  };

  explicit AwaitCall(Ticket::CancelWait cancel_wait)
      : ticket_(std::make_shared<Ticket>(std::move(cancel_wait))) {}

  const std::shared_ptr<Ticket> ticket_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_AWAIT_CALL_H_
