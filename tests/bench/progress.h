#ifndef PI_INTERCOM_TESTS_BENCH_PROGRESS_H_
#define PI_INTERCOM_TESTS_BENCH_PROGRESS_H_

#include <cstdio>
#include <cstdlib>
#include <string>

#include "broker/base/mutex.h"
#include "tests/bench/samples.h"

namespace intercom::bench {

// A benchmark that cannot go on has no result. From any thread.
[[noreturn]] inline void Die(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

// Counts events and knows when the last of them came. Thread-safe.
class Progress {
 public:
  void Count() ABSL_LOCKS_EXCLUDED(mu_) {
    const TimePoint now = SteadyClock::now();
    MutexLock lock(mu_);
    ++count_;
    last_ = now;
    if (count_ >= awaited_) changed_.NotifyAll();
  }
  // Blocks until `count` events came in all, and returns the time of the
  // latest. Ends the program if they don't come within 60 s.
  TimePoint WaitFor(int count, const char* what) ABSL_LOCKS_EXCLUDED(mu_) {
    const TimePoint end = SteadyClock::now() + std::chrono::seconds(60);
    MutexLock lock(mu_);
    awaited_ = count;
    while (count_ < count) {
      if (SteadyClock::now() > end) {
        Die("waited 60 s for " + std::to_string(count) + " x " + what +
            ", got " + std::to_string(count_));
      }
      changed_.WaitFor(mu_, std::chrono::seconds(1));
    }
    return last_;
  }

 private:
  Mutex mu_;
  CondVar changed_;
  int count_ ABSL_GUARDED_BY(mu_) = 0;
  int awaited_ ABSL_GUARDED_BY(mu_) = 1;
  TimePoint last_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_PROGRESS_H_
