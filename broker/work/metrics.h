#ifndef PI_INTERCOM_BROKER_WORK_METRICS_H_
#define PI_INTERCOM_BROKER_WORK_METRICS_H_

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/work/latency_histogram.h"
#include "broker/work/traffic.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// What is counted of this broker. Takes some increments a message and no
// storage.
//
// Not thread-safe: everything is called on the state's thread.
class Metrics {
 public:
  // Reasons that are counted apart; later ones count as "other".
  static constexpr size_t kMaxReasons = 64;

  // `clock` must outlive this object.
  explicit Metrics(const Clock& clock) : since_(clock.Now()), traffic_(clock) {}

  void CountAccepted(v1::EnvelopeKind kind);
  // It reached that state; not ACCEPTED.
  void CountReached(v1::DeliveryState state) { ++reached_[state]; }
  void CountEnded(v1::DeliveryEnd end) { ++ended_[end]; }
  // An envelope was refused. Empty: no reason was given.
  void CountRefused(std::string_view reason);
  void CountAttached() { ++attached_; }
  void CountDetached() { ++detached_; }
  // A run, an ask or a job is in that state from now on.
  void CountRun(v1::Run::State state) { ++runs_[state]; }
  void CountAsk(v1::Ask::State state) { ++asks_[state]; }
  void CountJob(v1::Job::Kind kind, v1::Job::State state) {
    ++jobs_[{kind, state}];
  }

  // How long after its acceptance a delivery reached that state.
  void AddLatency(v1::DeliveryState state, absl::Duration latency);
  void AddReplyTime(absl::Duration latency) { ask_to_reply_.Add(latency); }

  Traffic& traffic() { return traffic_; }
  v1::GetMetricsResponse Describe() const;

 private:
  const absl::Time since_;
  std::array<int64_t, v1::EnvelopeKind_ARRAYSIZE> accepted_ = {};
  std::array<int64_t, v1::DeliveryState_ARRAYSIZE> reached_ = {};
  std::array<int64_t, v1::DeliveryEnd_ARRAYSIZE> ended_ = {};
  std::map<std::string, int64_t, std::less<>> refused_;
  int64_t attached_ = 0;
  int64_t detached_ = 0;
  std::array<int64_t, v1::Run::State_ARRAYSIZE> runs_ = {};
  std::array<int64_t, v1::Ask::State_ARRAYSIZE> asks_ = {};
  std::map<std::pair<v1::Job::Kind, v1::Job::State>, int64_t> jobs_;
  LatencyHistogram to_delivered_, to_injected_, to_seen_, ask_to_reply_;
  Traffic traffic_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_METRICS_H_
