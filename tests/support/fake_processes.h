#ifndef PI_INTERCOM_TESTS_SUPPORT_FAKE_PROCESSES_H_
#define PI_INTERCOM_TESTS_SUPPORT_FAKE_PROCESSES_H_

#include <cstdint>
#include <functional>
#include <map>

#include "broker/base/mutex.h"

namespace intercom {

// The processes that run, as a test says. Thread-safe.
class FakeProcesses {
 public:
  void Start(int64_t pid, int64_t start_ticks) {
    MutexLock lock(mu_);
    running_[pid] = start_ticks;
  }
  void End(int64_t pid) {
    MutexLock lock(mu_);
    running_.erase(pid);
  }
  // For a ProcessWatch, which this must outlive.
  std::function<int64_t(int64_t)> TicksOf() {
    return [this](int64_t pid) {
      MutexLock lock(mu_);
      const auto found = running_.find(pid);
      return found == running_.end() ? int64_t{0} : found->second;
    };
  }

 private:
  Mutex mu_;
  std::map<int64_t, int64_t> running_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_FAKE_PROCESSES_H_
