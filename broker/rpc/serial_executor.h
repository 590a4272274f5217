#ifndef PI_INTERCOM_BROKER_RPC_SERIAL_EXECUTOR_H_
#define PI_INTERCOM_BROKER_RPC_SERIAL_EXECUTOR_H_

#include <cstddef>
#include <deque>
#include <thread>

#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"

namespace intercom {

// A thread for what must not be done on the caller's: tasks run on it in the
// order of posting. Thread-safe.
class SerialExecutor {
 public:
  SerialExecutor();
  // Runs what was posted, then ends the thread.
  ~SerialExecutor();

  void Post(Task task) ABSL_LOCKS_EXCLUDED(mu_);
  // The same, unless `limit` tasks wait already: then false.
  bool TryPost(Task task, size_t limit) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);

  Mutex mu_;
  CondVar wake_;
  std::deque<Task> tasks_ ABSL_GUARDED_BY(mu_);
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_SERIAL_EXECUTOR_H_
