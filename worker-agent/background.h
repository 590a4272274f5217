#ifndef PI_INTERCOM_WORKER_AGENT_BACKGROUND_H_
#define PI_INTERCOM_WORKER_AGENT_BACKGROUND_H_

#include <atomic>
#include <memory>
#include <utility>

#include "absl/time/time.h"
#include "broker/base/task_runner.h"
#include "worker-agent/link/post_gate.h"

namespace intercom {

// Work that blocks, done on a runner of its own, one piece at a time in the
// order of asking; results come back to the runner `home`. What is asked for
// must own all that it needs: it may outlive this object, whose end drops the
// results. Not thread-safe: on `home`.
class Background {
 public:
  // The runners must outlive this object.
  Background(TaskRunner& home, TaskRunner& where)
      : gate_(std::make_shared<PostGate>(home)), where_(where) {}
  ~Background() { gate_->Close(); }
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // `then` gets what `work` returns.
  template <typename Work, typename Then>
  void Run(Work work, Then then) {
    where_.PostTask([gate = gate_, work = std::move(work),
                     then = std::move(then)]() mutable {
      gate->Post([result = work(), then = std::move(then)]() mutable {
        then(std::move(result));
      });
    });
  }

  // The same for a question whose answer is of no use after `limit`: then
  // `too_late` is called instead of `then`, and work that has not begun never
  // does.
  template <typename Work, typename Then, typename TooLate>
  void Ask(absl::Duration limit, Work work, Then then, TooLate too_late) {
    auto decided = std::make_shared<std::atomic<bool>>(false);
    DecideLater(limit, decided, std::move(too_late));
    where_.PostTask([gate = gate_, decided, work = std::move(work),
                     then = std::move(then)]() mutable {
      if (*decided) return;
      gate->Post([decided, result = work(), then = std::move(then)]() mutable {
        if (!decided->exchange(true)) then(std::move(result));
      });
    });
  }

  // The same for an action that must not begin after `limit`: then it never
  // does, and `too_late` is called instead. Once begun, its result comes
  // however late.
  template <typename Work, typename Then, typename TooLate>
  void Act(absl::Duration limit, Work work, Then then, TooLate too_late) {
    auto decided = std::make_shared<std::atomic<bool>>(false);
    DecideLater(limit, decided, std::move(too_late));
    where_.PostTask([gate = gate_, decided, work = std::move(work),
                     then = std::move(then)]() mutable {
      if (decided->exchange(true)) return;
      gate->Post([result = work(), then = std::move(then)]() mutable {
        then(std::move(result));
      });
    });
  }

 private:
  // `decided` is true once either side came first.
  template <typename TooLate>
  void DecideLater(absl::Duration limit,
                   const std::shared_ptr<std::atomic<bool>>& decided,
                   TooLate too_late) {
    gate_->PostDelayed(
        [decided, too_late = std::move(too_late)]() mutable {
          if (!decided->exchange(true)) too_late();
        },
        limit);
  }

  const std::shared_ptr<PostGate> gate_;
  TaskRunner& where_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_BACKGROUND_H_
