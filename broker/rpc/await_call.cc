#include "broker/rpc/await_call.h"

namespace intercom {

void AwaitCall::Ticket::Set(int64_t number) {
  {
    MutexLock lock(mu_);
    number_ = number;
    if (!is_cancelled_) return;
  }
  cancel_wait_(number);
}

void AwaitCall::Ticket::Cancel() {
  int64_t number = 0;
  {
    MutexLock lock(mu_);
    is_cancelled_ = true;
    number = number_;
  }
  if (number != 0) cancel_wait_(number);
}

}  // namespace intercom
