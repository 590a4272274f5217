#include "broker/work/traffic.h"

#include <algorithm>

#include "broker/base/proto_time.h"

namespace intercom {

Traffic::Traffic(const Clock& clock)
    : clock_(clock), started_(clock.Steady()), minutes_(kMinutes) {}

void Traffic::Roll() {
  const int64_t now = (clock_.Steady() - started_) / absl::Minutes(1);
  if (now == present_) return;
  minutes_.back().median = MedianOfSamples();
  samples_.clear();
  seen_ = 0;
  stride_ = 1;
  const int64_t passed =
      std::min<int64_t>(now - present_, static_cast<int64_t>(kMinutes));
  for (int64_t i = 0; i < passed; ++i) {
    minutes_.pop_front();
    minutes_.emplace_back();
  }
  present_ = now;
}

void Traffic::CountMessage() {
  Roll();
  ++minutes_.back().messages;
}

void Traffic::AddLatency(absl::Duration latency) {
  Roll();
  latency = std::max(latency, absl::ZeroDuration());
  minutes_.back().longest = std::max(minutes_.back().longest, latency);
  if (seen_++ % stride_ != 0) return;
  samples_.push_back(latency);
  if (samples_.size() < kMaxSamples) return;
  // Every second of those, which is what would have been kept.
  for (size_t i = 0; i < kMaxSamples / 2; ++i) samples_[i] = samples_[2 * i];
  samples_.resize(kMaxSamples / 2);
  stride_ *= 2;
}

std::optional<absl::Duration> Traffic::MedianOfSamples() {
  if (samples_.empty()) return std::nullopt;
  std::vector<absl::Duration> sorted = samples_;
  const auto middle = sorted.begin() + (sorted.size() - 1) / 2;
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

google::protobuf::RepeatedPtrField<v1::TrafficMinute> Traffic::Minutes() {
  Roll();
  minutes_.back().median = MedianOfSamples();
  google::protobuf::RepeatedPtrField<v1::TrafficMinute> told;
  for (const Minute& minute : minutes_) {
    v1::TrafficMinute& added = *told.Add();
    added.set_messages(minute.messages);
    if (!minute.median.has_value()) continue;
    *added.mutable_median_latency() = ToProtoDuration(*minute.median);
    *added.mutable_longest_latency() = ToProtoDuration(minute.longest);
  }
  return told;
}

}  // namespace intercom
