#include "broker/rpc/await_call.h"

#include <utility>

#include "broker/base/mutex.h"

namespace intercom {

// Which wait to end when the call is cancelled: either may be known first.
class AwaitCall::Ticket {
 public:
  explicit Ticket(AskDesk& asks) : asks_(asks) {}

  void Set(int64_t number) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(mu_);
      number_ = number;
      if (!is_cancelled_) return;
    }
    asks_.CancelWait(number);
  }
  void Cancel() ABSL_LOCKS_EXCLUDED(mu_) {
    int64_t number = 0;
    {
      MutexLock lock(mu_);
      is_cancelled_ = true;
      number = number_;
    }
    if (number != 0) asks_.CancelWait(number);
  }

 private:
  AskDesk& asks_;
  Mutex mu_;
  bool is_cancelled_ ABSL_GUARDED_BY(mu_) = false;
  // 0 until the desk has it.
  int64_t number_ ABSL_GUARDED_BY(mu_) = 0;
};

AwaitCall::AwaitCall(AskDesk& asks) : ticket_(std::make_shared<Ticket>(asks)) {}

void AwaitCall::OnCancel() { ticket_->Cancel(); }

grpc::ServerUnaryReactor* AwaitCall::Serve(const AdapterContext& adapter,
                                           grpc::CallbackServerContext* context,
                                           const v1::AwaitReplyRequest& request,
                                           v1::AwaitReplyResponse& response) {
  AskDesk& asks = adapter.core.asks;
  auto* call = new AwaitCall(asks);
  ServeOn<v1::AwaitReplyResponse>(
      adapter, context, call,
      // The call may be over, and gone, before the desk returns.
      [&asks, &request, ticket = call->ticket_](CallerEvidence evidence,
                                                auto done) {
        ticket->Set(
            asks.AwaitReply(std::move(evidence), request, std::move(done)));
      },
      [&response](v1::AwaitReplyResponse answer) {
        response = std::move(answer);
      });
  return call;
}

}  // namespace intercom
