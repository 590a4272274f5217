#ifndef PI_INTERCOM_BROKER_WORK_LATENCY_HISTOGRAM_H_
#define PI_INTERCOM_BROKER_WORK_LATENCY_HISTOGRAM_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "absl/time/time.h"
#include "broker/base/proto_time.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// How long things took, in buckets whose bounds people read easily. Takes a
// search of 22 numbers a time.
class LatencyHistogram {
 public:
  // A bucket holds what took up to so long, its bound included.
  static constexpr std::array<int64_t, 22> kBoundsMs = {
      1,       2,       5,       10,        20,        50,       100,    200,
      500,     1'000,   2'000,   5'000,     10'000,    20'000,   30'000, 60'000,
      120'000, 300'000, 600'000, 1'200'000, 1'800'000, 3'600'000};

  // A negative time, as after a change of the clock, counts as none.
  void Add(absl::Duration took) {
    took = std::max(took, absl::ZeroDuration());
    const auto bucket =
        std::lower_bound(kBoundsMs.begin(), kBoundsMs.end(), took,
                         [](int64_t bound_ms, absl::Duration time) {
                           return absl::Milliseconds(bound_ms) < time;
                         });
    ++counts_[std::distance(kBoundsMs.begin(), bucket)];
    ++count_;
    sum_ += took;
    longest_ = std::max(longest_, took);
  }

  v1::LatencyHistogram ToProto(std::string_view name,
                               std::string_view help) const {
    v1::LatencyHistogram told;
    told.set_name(std::string(name));
    told.set_help(std::string(help));
    for (size_t i = 0; i < counts_.size(); ++i) {
      auto& bucket = *told.add_buckets();
      if (i < kBoundsMs.size()) {
        *bucket.mutable_up_to() =
            ToProtoDuration(absl::Milliseconds(kBoundsMs[i]));
      }
      bucket.set_count(counts_[i]);
    }
    told.set_count(count_);
    *told.mutable_sum() = ToProtoDuration(sum_);
    *told.mutable_longest() = ToProtoDuration(longest_);
    return told;
  }

 private:
  // The last one is of what took any longer.
  std::array<int64_t, kBoundsMs.size() + 1> counts_ = {};
  int64_t count_ = 0;
  absl::Duration sum_ = absl::ZeroDuration();
  absl::Duration longest_ = absl::ZeroDuration();
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_LATENCY_HISTOGRAM_H_
