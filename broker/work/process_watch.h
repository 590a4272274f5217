#ifndef PI_INTERCOM_BROKER_WORK_PROCESS_WATCH_H_
#define PI_INTERCOM_BROKER_WORK_PROCESS_WATCH_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/process.h"
#include "broker/base/task_runner.h"

namespace intercom {

// Whether a process still runs, told by its id and when it started: an id alone
// may be another one's by now. A zombie has ended.
//
// Looks into /proc, which is memory and no disk. Not thread-safe: everything is
// called on the runner's thread.
class ProcessWatch {
 public:
  static constexpr absl::Duration kEvery = absl::Milliseconds(50);

  // When a process started, in clock ticks since boot; 0 if it does not run.
  using TicksOf = std::function<int64_t(int64_t pid)>;

  // Both must outlive this object.
  ProcessWatch(TaskRunner& runner, const Clock& clock,
               TicksOf ticks_of = StartTicksOf)
      : runner_(runner), clock_(clock), ticks_of_(std::move(ticks_of)) {}

  // Whether both are known.
  static bool IsKnown(int64_t pid, int64_t start_ticks) {
    return pid > 0 && start_ticks > 0;
  }
  // False for a process that is not known.
  bool IsAlive(int64_t pid, int64_t start_ticks) const {
    return IsKnown(pid, start_ticks) && ticks_of_(pid) == start_ticks;
  }

  // Calls `done` once: true when the process has ended, false when it still
  // runs after `patience`.
  void AwaitEnd(int64_t pid, int64_t start_ticks, absl::Duration patience,
                absl::AnyInvocable<void(bool)> done) {
    Look(pid, start_ticks, clock_.Steady() + patience, std::move(done));
  }

 private:
  void Look(int64_t pid, int64_t start_ticks, absl::Duration until,
            absl::AnyInvocable<void(bool)> done) {
    if (!IsAlive(pid, start_ticks)) return done(true);
    if (clock_.Steady() >= until) return done(false);
    runner_.PostDelayedTask(
        [=, this, done = std::move(done)]() mutable {
          Look(pid, start_ticks, until, std::move(done));
        },
        kEvery);
  }

  TaskRunner& runner_;
  const Clock& clock_;
  const TicksOf ticks_of_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_PROCESS_WATCH_H_
