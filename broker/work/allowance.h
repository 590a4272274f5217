#ifndef PI_INTERCOM_BROKER_WORK_ALLOWANCE_H_
#define PI_INTERCOM_BROKER_WORK_ALLOWANCE_H_

#include <algorithm>

#include "absl/time/time.h"

namespace intercom {

// How much one may do now: full at first, refilled by time, whatever the wall
// clock does.
class Allowance {
 public:
  Allowance(double burst, double per_second)
      : burst_(burst), per_second_(per_second), left_(burst) {}

  // Takes one at the steady time `now`. False where none is left.
  bool Spend(absl::Duration now) {
    left_ = std::min(
        burst_, left_ + absl::ToDoubleSeconds(now - spent_at_) * per_second_);
    spent_at_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  double burst_;
  double per_second_;
  double left_;
  absl::Duration spent_at_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ALLOWANCE_H_
