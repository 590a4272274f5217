#ifndef PI_INTERCOM_BROKER_BASE_TASK_RUNNER_H_
#define PI_INTERCOM_BROKER_BASE_TASK_RUNNER_H_

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace intercom {

using Task = absl::AnyInvocable<void()>;

// Runs tasks one at a time, in the order of posting. Thread-safe. A task that
// is still waiting when the runner is destroyed is destroyed without running.
class TaskRunner {
 public:
  virtual ~TaskRunner() = default;

  virtual void PostTask(Task task) = 0;

  // Runs `task` no earlier than `delay` (steady time) from now.
  virtual void PostDelayedTask(Task task, absl::Duration delay) = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_TASK_RUNNER_H_
