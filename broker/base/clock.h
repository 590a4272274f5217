#ifndef PI_INTERCOM_BROKER_BASE_CLOCK_H_
#define PI_INTERCOM_BROKER_BASE_CLOCK_H_

#include "absl/time/time.h"

namespace intercom {

// The only source of time. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;

  // Wall time: for what is stored and shown. May jump in both directions.
  virtual absl::Time Now() const = 0;

  // Time since an arbitrary origin that never jumps: for deadlines and ages
  // inside one process.
  virtual absl::Duration Steady() const = 0;
};

// The machine's clocks.
class SystemClock : public Clock {
 public:
  absl::Time Now() const override;
  absl::Duration Steady() const override;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_CLOCK_H_
