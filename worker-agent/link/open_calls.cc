#include "worker-agent/link/open_calls.h"

#include <utility>

namespace intercom {

void OpenCalls::Opened(grpc::ClientContext* context) {
  MutexLock lock(mu_);
  open_.insert(context);
}

void OpenCalls::Finished(grpc::ClientContext* context,
                         std::shared_ptr<void> remains) {
  {
    MutexLock lock(mu_);
    open_.erase(context);
    finished_.push_back(std::move(remains));
    changed_.NotifyAll();
  }
  gate_->Post([self = shared_from_this()] { self->Clear(); });
}

void OpenCalls::CancelAll() {
  {
    MutexLock lock(mu_);
    for (grpc::ClientContext* context : open_) context->TryCancel();
    while (!open_.empty()) changed_.Wait(mu_);
  }
  Clear();
}

void OpenCalls::Clear() {
  // Destroyed after the lock is free.
  std::vector<std::shared_ptr<void>> finished;
  MutexLock lock(mu_);
  finished.swap(finished_);
}

}  // namespace intercom
