#ifndef PI_INTERCOM_TESTS_SUPPORT_OFFSET_CLOCK_H_
#define PI_INTERCOM_TESTS_SUPPORT_OFFSET_CLOCK_H_

#include <atomic>
#include <cstdint>

#include "absl/time/time.h"
#include "broker/base/clock.h"

namespace intercom {

// The machine's clocks, of which a test can push the steady one forward. Wall
// time stays the machine's, which gRPC's deadlines are measured by.
// Thread-safe.
class OffsetClock : public Clock {
 public:
  absl::Time Now() const override { return system_.Now(); }
  absl::Duration Steady() const override { return system_.Steady() + offset(); }
  void Advance(absl::Duration by) { seconds_ += absl::ToInt64Seconds(by); }

 private:
  absl::Duration offset() const { return absl::Seconds(seconds_.load()); }

  const SystemClock system_;
  std::atomic<int64_t> seconds_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_OFFSET_CLOCK_H_
