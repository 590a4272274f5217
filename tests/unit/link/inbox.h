#ifndef PI_INTERCOM_TESTS_UNIT_LINK_INBOX_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_INBOX_H_

#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "broker/base/mutex.h"

namespace intercom {

// What callbacks hand over to the thread of a test. Thread-safe.
template <typename T>
class Inbox {
 public:
  void Put(T value) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    values_.push_back(std::move(value));
    changed_.NotifyAll();
  }

  // The next value; nullopt if none comes within 30 s.
  std::optional<T> Take() ABSL_LOCKS_EXCLUDED(mu_) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    MutexLock lock(mu_);
    while (values_.empty()) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return std::nullopt;
      changed_.WaitFor(mu_, left);
    }
    T value = std::move(values_.front());
    values_.pop_front();
    return value;
  }

  size_t size() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    return values_.size();
  }

 private:
  Mutex mu_;
  CondVar changed_;
  std::deque<T> values_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_INBOX_H_
