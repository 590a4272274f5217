#ifndef PI_INTERCOM_BROKER_WORK_TRAFFIC_H_
#define PI_INTERCOM_BROKER_WORK_TRAFFIC_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "google/protobuf/repeated_ptr_field.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// What went through in each of the last 60 minutes. Minutes are those of steady
// time, so that a change of the clock moves nothing. Time passes when it is
// looked at: nothing runs in between.
//
// A value of the state's thread.
class Traffic {
 public:
  static constexpr size_t kMinutes = 60;
  // Latencies that are kept of the present minute; of more, every second, then
  // every fourth and so on.
  static constexpr size_t kMaxSamples = 1024;

  // `clock` must outlive this object.
  explicit Traffic(const Clock& clock);

  void CountMessage();
  // One was injected so long after it was accepted.
  void AddLatency(absl::Duration latency);

  // 60 of them, the oldest first, the present one last.
  google::protobuf::RepeatedPtrField<v1::TrafficMinute> Minutes();

 private:
  struct Minute {
    int32_t messages = 0;
    std::optional<absl::Duration> median;
    absl::Duration longest = absl::ZeroDuration();
  };

  // Goes on to the present minute.
  void Roll();
  std::optional<absl::Duration> MedianOfSamples();

  const Clock& clock_;
  const absl::Duration started_;
  // Of the last of `minutes_`.
  int64_t present_ = 0;
  std::deque<Minute> minutes_;
  // Of the present minute.
  std::vector<absl::Duration> samples_;
  int64_t seen_ = 0;
  // Every so many-th is kept.
  int64_t stride_ = 1;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_TRAFFIC_H_
