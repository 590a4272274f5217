#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_AGES_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_AGES_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/time/time.h"
#include "broker/base/proto_time.h"
#include "worker-agent/tools/labels.h"

namespace intercom {

// The ages on one screen, and when the first of them reads differently: the
// screen need not be made again before.
class Ages {
 public:
  explicit Ages(absl::Time now) : now_(now) {}

  // "4s", "12m", "3h", "2d".
  std::string Of(absl::Time time) {
    const absl::Duration age = now_ - time;
    const absl::Duration unit = age < absl::Minutes(1)  ? absl::Seconds(1)
                                : age < absl::Hours(1)  ? absl::Minutes(1)
                                : age < absl::Hours(24) ? absl::Hours(1)
                                                        : absl::Hours(24);
    const absl::Duration next =
        age < absl::ZeroDuration() ? unit : absl::Floor(age, unit) + unit;
    until_change_ = std::min(until_change_, next - age);
    return AgeLabel(age);
  }
  std::string Of(const google::protobuf::Timestamp& time) {
    return Of(FromProto(time));
  }

  // Whole minutes since then.
  int64_t MinutesSince(const google::protobuf::Timestamp& time) {
    const absl::Duration age =
        std::max(now_ - FromProto(time), absl::ZeroDuration());
    const int64_t minutes = age / absl::Minutes(1);
    until_change_ =
        std::min(until_change_, (minutes + 1) * absl::Minutes(1) - age);
    return minutes;
  }

  // Over a minute ago: no news any more.
  bool IsOld(const google::protobuf::Timestamp& time) const {
    return now_ - FromProto(time) >= absl::Seconds(60);
  }

  absl::Time now() const { return now_; }
  // Infinite without an age.
  absl::Duration until_change() const { return until_change_; }

 private:
  const absl::Time now_;
  absl::Duration until_change_ = absl::InfiniteDuration();
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_AGES_H_
