#ifndef PI_INTERCOM_TESTS_SUPPORT_ANSWER_H_
#define PI_INTERCOM_TESTS_SUPPORT_ANSWER_H_

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "broker/base/mutex.h"

namespace intercom {

// Where the answer of an asynchronous call arrives. Copies share it, so that a
// late answer finds a place. Thread-safe.
template <typename T>
class Answer {
 public:
  // For the call; counts how often it is called.
  auto Callback() const {
    return [state = state_](T value) {
      MutexLock lock(state->mu);
      ++state->count;
      state->value.emplace(std::move(value));
      state->changed.NotifyAll();
    };
  }

  // Blocks until it is there. After 60 s without one the test hangs: aborts.
  T Wait() const {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(60);
    MutexLock lock(state_->mu);
    while (!state_->value.has_value()) {
      if (std::chrono::steady_clock::now() > end) std::abort();
      state_->changed.WaitFor(state_->mu, std::chrono::seconds(1));
    }
    return *state_->value;
  }

  int count() const {
    MutexLock lock(state_->mu);
    return state_->count;
  }

 private:
  struct State {
    Mutex mu;
    CondVar changed;
    int count ABSL_GUARDED_BY(mu) = 0;
    std::optional<T> value ABSL_GUARDED_BY(mu);
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_ANSWER_H_
