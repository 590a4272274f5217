#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_RUNNER_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_RUNNER_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "broker/base/task_runner.h"
#include "tests/support/fake_clock.h"

namespace intercom {

// A runner whose time is a clock that the test moves. Not thread-safe.
class FakeRunner : public TaskRunner {
 public:
  explicit FakeRunner(FakeClock& clock) : clock_(clock) {}

  void PostTask(Task task) override {
    PostDelayedTask(std::move(task), absl::ZeroDuration());
  }
  void PostDelayedTask(Task task, absl::Duration delay) override {
    waiting_.push_back({clock_.Steady() + delay, std::move(task)});
  }

  // Time passes, and what becomes due meanwhile runs in its order.
  void Advance(absl::Duration by) {
    const absl::Duration end = clock_.Steady() + by;
    while (true) {
      const auto next = std::min_element(
          waiting_.begin(), waiting_.end(),
          [](const Waiting& a, const Waiting& b) { return a.due < b.due; });
      if (next == waiting_.end() || next->due > end) break;
      Waiting due = std::move(*next);
      waiting_.erase(next);
      if (due.due > clock_.Steady()) clock_.Advance(due.due - clock_.Steady());
      due.task();
    }
    clock_.Advance(end - clock_.Steady());
  }

 private:
  struct Waiting {
    absl::Duration due;
    Task task;
  };

  FakeClock& clock_;
  std::vector<Waiting> waiting_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_RUNNER_H_
