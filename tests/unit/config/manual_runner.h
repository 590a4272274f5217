#ifndef PI_INTERCOM_TESTS_UNIT_CONFIG_MANUAL_RUNNER_H_
#define PI_INTERCOM_TESTS_UNIT_CONFIG_MANUAL_RUNNER_H_

#include <deque>
#include <functional>
#include <list>
#include <utility>

#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"
#include "tests/support/fake_clock.h"

namespace intercom {

// Runs tasks on the test's own thread, when the test says so.
class ManualRunner : public TaskRunner {
 public:
  explicit ManualRunner(FakeClock& clock) : clock_(clock) {}

  void PostTask(Task task) override {
    MutexLock lock(mu_);
    ready_.push_back(std::move(task));
    changed_.NotifyAll();
  }
  void PostDelayedTask(Task task, absl::Duration delay) override {
    MutexLock lock(mu_);
    delayed_.push_back({clock_.Steady() + delay, delay, std::move(task)});
    changed_.NotifyAll();
  }

  // Runs tasks as they come until `done`.
  void RunUntil(const std::function<bool()>& done) {
    while (!done()) {
      Task task;
      {
        MutexLock lock(mu_);
        while (ready_.empty()) changed_.Wait(mu_);
        task = std::move(ready_.front());
        ready_.pop_front();
      }
      task();
    }
  }
  // Runs what is ready, without waiting for more.
  void RunReady() {
    RunUntil([this] {
      MutexLock lock(mu_);
      return ready_.empty();
    });
  }
  // Time passes; what became due and what is ready runs.
  void Advance(absl::Duration by) {
    clock_.Advance(by);
    {
      MutexLock lock(mu_);
      for (auto it = delayed_.begin(); it != delayed_.end();) {
        if (it->due <= clock_.Steady()) {
          ready_.push_back(std::move(it->task));
          it = delayed_.erase(it);
        } else {
          ++it;
        }
      }
    }
    RunReady();
  }
  // Waits until somebody has asked for a task after no more than `delay`.
  void WaitForDelayed(absl::Duration delay) {
    MutexLock lock(mu_);
    for (;;) {
      for (const Delayed& task : delayed_) {
        if (task.delay <= delay) return;
      }
      changed_.Wait(mu_);
    }
  }

 private:
  struct Delayed {
    absl::Duration due;
    absl::Duration delay;
    Task task;
  };
  FakeClock& clock_;
  Mutex mu_;
  CondVar changed_;
  std::deque<Task> ready_ ABSL_GUARDED_BY(mu_);
  std::list<Delayed> delayed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_CONFIG_MANUAL_RUNNER_H_
