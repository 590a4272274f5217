#include "broker/work/metrics.h"

#include "absl/strings/ascii.h"
#include "absl/strings/strip.h"
#include "broker/base/proto_time.h"
#include "broker/domain/job.h"

namespace intercom {
namespace {

constexpr char kOtherReason[] = "other";

// "ask" for ENVELOPE_KIND_ASK.
std::string Word(const std::string& name, const char* prefix) {
  return absl::AsciiStrToLower(absl::StripPrefix(name, prefix));
}

class Counters {
 public:
  explicit Counters(v1::GetMetricsResponse& response) : response_(response) {}

  void Add(const char* name, const std::string& label, int64_t value,
           const char* help) {
    v1::Counter& counter = *response_.add_counters();
    counter.set_name(name);
    counter.set_label(label);
    counter.set_value(value);
    counter.set_help(help);
  }

 private:
  v1::GetMetricsResponse& response_;
};

}  // namespace

void Metrics::CountAccepted(v1::EnvelopeKind kind) {
  ++accepted_[kind];
  if (kind != v1::ENVELOPE_KIND_NOTICE) traffic_.CountMessage();
}

void Metrics::CountRefused(std::string_view reason) {
  if (reason.empty()) reason = kOtherReason;
  auto found = refused_.find(reason);
  if (found == refused_.end()) {
    const bool is_full = refused_.size() >= kMaxReasons;
    found = refused_.try_emplace(is_full ? kOtherReason : std::string(reason))
                .first;
  }
  ++found->second;
}

void Metrics::AddLatency(v1::DeliveryState state, absl::Duration latency) {
  switch (state) {
    case v1::DELIVERY_STATE_DELIVERED:
      return to_delivered_.Add(latency);
    case v1::DELIVERY_STATE_INJECTED:
      traffic_.AddLatency(latency);
      return to_injected_.Add(latency);
    case v1::DELIVERY_STATE_SEEN:
      return to_seen_.Add(latency);
    default:
      return;
  }
}

v1::GetMetricsResponse Metrics::Describe() const {
  v1::GetMetricsResponse told;
  *told.mutable_since() = ToProto(since_);
  Counters counters(told);
  for (int kind = v1::ENVELOPE_KIND_MESSAGE; kind < v1::EnvelopeKind_ARRAYSIZE;
       ++kind) {
    counters.Add("envelopes_accepted",
                 "kind=" + Word(v1::EnvelopeKind_Name(kind), "ENVELOPE_KIND_"),
                 accepted_[kind], "Envelopes that were stored.");
  }
  for (int state = v1::DELIVERY_STATE_DELIVERED;
       state < v1::DeliveryState_ARRAYSIZE; ++state) {
    counters.Add(
        "deliveries_reached",
        "state=" + Word(v1::DeliveryState_Name(state), "DELIVERY_STATE_"),
        reached_[state],
        "How often a delivery reached a state; one that is delivered again "
        "does so again.");
  }
  for (int end = v1::DELIVERY_END_CANCELLED; end < v1::DeliveryEnd_ARRAYSIZE;
       ++end) {
    counters.Add("deliveries_ended",
                 "end=" + Word(v1::DeliveryEnd_Name(end), "DELIVERY_END_"),
                 ended_[end], "Deliveries that ended without arriving.");
  }
  for (const auto& [reason, count] : refused_) {
    counters.Add("envelopes_refused", "reason=" + reason, count,
                 "Envelopes that were not stored.");
  }
  counters.Add("sessions_attached", "", attached_, "Attachments that began.");
  counters.Add("sessions_detached", "", detached_, "Attachments that ended.");
  for (int state = v1::Run::STATE_WAITING; state < v1::Run::State_ARRAYSIZE;
       ++state) {
    counters.Add("runs_reached",
                 "state=" + Word(v1::Run::State_Name(state), "STATE_"),
                 runs_[state], "Runs that came into a state.");
  }
  for (int state = v1::Ask::STATE_OPEN; state < v1::Ask::State_ARRAYSIZE;
       ++state) {
    counters.Add("asks_reached",
                 "state=" + Word(v1::Ask::State_Name(state), "STATE_"),
                 asks_[state], "Asks that came into a state.");
  }
  for (const auto& [of, count] : jobs_) {
    counters.Add("jobs_reached",
                 "kind=" + std::string(JobKindName(of.first)) +
                     ",state=" + std::string(JobStateName(of.second)),
                 count, "Jobs that came into a state.");
  }
  *told.add_latencies() = to_delivered_.ToProto(
      "accepted_to_delivered",
      "From the acceptance of an envelope until its recipient's agent had it.");
  *told.add_latencies() = to_injected_.ToProto(
      "accepted_to_injected",
      "From the acceptance of an envelope until it was in its session.");
  *told.add_latencies() = to_seen_.ToProto(
      "accepted_to_seen",
      "From the acceptance of an envelope until a model had read it.");
  *told.add_latencies() = ask_to_reply_.ToProto(
      "ask_to_reply", "From an ask until its reply was accepted.");
  return told;
}

}  // namespace intercom
