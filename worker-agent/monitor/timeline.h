#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_TIMELINE_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_TIMELINE_H_

#include <cstddef>
#include <deque>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "intercom/v1/inspect.pb.h"
#include "worker-agent/monitor/line.h"

namespace intercom {

// One row of the timeline: an envelope and how far it is, or that somebody
// came, left, or that a run, job or ask ended. Names are labels.
struct TimelineItem {
  // A delivery id; of other things one of their own.
  std::string id;
  // Whether `id` names an envelope, which has a body.
  bool is_envelope = false;
  absl::Time at;
  std::string from;
  // Empty where nobody is told anything.
  std::string to;
  std::string kind;
  std::string state;
  Style style = Style::kPlain;
  std::optional<absl::Duration> latency;
};

// The last things that happened, the newest first. An envelope is one item, and
// moves to the front when its state changes. Pure.
class Timeline {
 public:
  static constexpr size_t kMost = 500;

  // False if it is nothing to show.
  bool Add(const v1::WatchEventsResponse& event);
  // What was before the first event, or while none could be read. What is there
  // already and as new stays.
  void Fill(const v1::ListDeliveriesResponse& before);
  void Clear() { items_.clear(); }

  const std::deque<TimelineItem>& items() const { return items_; }
  // The place of the item with that id.
  std::optional<size_t> Find(const std::string& id) const;

 private:
  std::deque<TimelineItem> items_;
};

// What is shown of one delivery.
TimelineItem ItemOf(const v1::DeliverySummary& delivery);

// "340ms", "2.1s", "45s", "12m".
std::string LatencyText(absl::Duration latency);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_TIMELINE_H_
