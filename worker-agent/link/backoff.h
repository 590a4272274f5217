#ifndef PI_INTERCOM_WORKER_AGENT_LINK_BACKOFF_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_BACKOFF_H_

#include <algorithm>

#include "absl/time/time.h"
#include "broker/base/random.h"

namespace intercom {

// Delays between attempts: each anywhere between zero and a bound that doubles
// up to a limit, so that many who lost the same broker don't come back at once.
class Backoff {
 public:
  struct Bounds {
    absl::Duration first = absl::Milliseconds(100);
    absl::Duration limit = absl::Seconds(5);
  };

  Backoff(Random& random, Bounds bounds)
      : random_(random), bounds_(bounds), next_(bounds.first) {}

  absl::Duration Next() {
    const absl::Duration bound = next_;
    next_ = std::min(next_ * 2, bounds_.limit);
    // 53 bits fit a double exactly.
    const double share = static_cast<double>(random_.Next() >> 11) * 0x1.0p-53;
    return bound * share;
  }

  // After a success.
  void Reset() { next_ = bounds_.first; }

 private:
  Random& random_;
  const Bounds bounds_;
  absl::Duration next_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_BACKOFF_H_
