#ifndef PI_INTERCOM_WORKER_AGENT_LINK_EVENT_LOOP_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_EVENT_LOOP_H_

#include <cstdint>
#include <deque>
#include <map>
#include <utility>

#include "broker/base/clock.h"
#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"

namespace intercom {

// A task runner on the thread that calls Run().
class EventLoop : public TaskRunner {
 public:
  // `clock` must outlive this object and run: waits are real.
  explicit EventLoop(const Clock& clock) : clock_(clock) {}

  void PostTask(Task task) override ABSL_LOCKS_EXCLUDED(mu_);
  void PostDelayedTask(Task task, absl::Duration delay) override
      ABSL_LOCKS_EXCLUDED(mu_);

  // Runs tasks until Quit(). What still waits then is not run.
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Lets Run() return after the present task. From any thread.
  void Quit() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // Moves what is due to `ready_`; waits if nothing is. False after Quit().
  bool Take(Task& task) ABSL_LOCKS_EXCLUDED(mu_);

  const Clock& clock_;
  Mutex mu_;
  CondVar changed_;
  bool quit_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Task> ready_ ABSL_GUARDED_BY(mu_);
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  // By due time (steady), then by order of posting.
  std::map<std::pair<absl::Duration, int64_t>, Task> delayed_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_EVENT_LOOP_H_
