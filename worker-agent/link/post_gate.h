#ifndef PI_INTERCOM_WORKER_AGENT_LINK_POST_GATE_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_POST_GATE_H_

#include <memory>
#include <utility>

#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"

namespace intercom {

// The way from gRPC's threads to an object on a task runner. The object closes
// the gate when it goes; what was posted and what comes later is then dropped,
// so that late callbacks reach neither it nor its runner. Thread-safe; Close()
// is called on the runner.
class PostGate : public std::enable_shared_from_this<PostGate> {
 public:
  explicit PostGate(TaskRunner& runner) : runner_(&runner) {}

  void Post(Task task) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    if (runner_ != nullptr) runner_->PostTask(Guarded(std::move(task)));
  }

  void PostDelayed(Task task, absl::Duration delay) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    if (runner_ != nullptr) {
      runner_->PostDelayedTask(Guarded(std::move(task)), delay);
    }
  }

  void Close() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    runner_ = nullptr;
  }

 private:
  Task Guarded(Task task) {
    return [self = shared_from_this(), task = std::move(task)]() mutable {
      if (self->IsOpen()) task();
    };
  }
  bool IsOpen() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    return runner_ != nullptr;
  }

  Mutex mu_;
  TaskRunner* runner_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_POST_GATE_H_
