#ifndef PI_INTERCOM_TESTS_SUPPORT_FAKE_CLOCK_H_
#define PI_INTERCOM_TESTS_SUPPORT_FAKE_CLOCK_H_

#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/mutex.h"

namespace intercom {

// A clock that stands still until a test moves it. Thread-safe.
class FakeClock : public Clock {
 public:
  absl::Time Now() const override {
    MutexLock lock(mu_);
    return now_;
  }
  absl::Duration Steady() const override {
    MutexLock lock(mu_);
    return steady_;
  }
  // Time passes.
  void Advance(absl::Duration by) {
    MutexLock lock(mu_);
    now_ += by;
    steady_ += by;
  }
  // Somebody sets the wall clock; steady time stays.
  void Jump(absl::Duration by) {
    MutexLock lock(mu_);
    now_ += by;
  }

 private:
  mutable Mutex mu_;
  absl::Time now_ ABSL_GUARDED_BY(mu_) = absl::FromUnixSeconds(1'800'000'000);
  absl::Duration steady_ ABSL_GUARDED_BY(mu_) = absl::Hours(1);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_FAKE_CLOCK_H_
