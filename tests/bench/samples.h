#ifndef PI_INTERCOM_TESTS_BENCH_SAMPLES_H_
#define PI_INTERCOM_TESTS_BENCH_SAMPLES_H_

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

namespace intercom::bench {

using SteadyClock = std::chrono::steady_clock;
using TimePoint = SteadyClock::time_point;

inline double Microseconds(SteadyClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// Durations in microseconds. Not thread-safe.
class Samples {
 public:
  void Add(SteadyClock::duration duration) {
    values_.push_back(Microseconds(duration));
  }
  void Append(const Samples& other) {
    values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  }
  size_t size() const { return values_.size(); }

  // The value that a share of `quantile` (0 to 1) does not exceed; 0 if empty.
  double At(double quantile) const {
    if (values_.empty()) return 0;
    std::vector<double> sorted = values_;
    std::sort(sorted.begin(), sorted.end());
    const auto rank = static_cast<size_t>(quantile * (sorted.size() - 1) + 0.5);
    return sorted[rank];
  }
  double p50() const { return At(0.5); }
  double p99() const { return At(0.99); }

 private:
  std::vector<double> values_;
};

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_SAMPLES_H_
