#ifndef PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_TEXT_H_

#include <string>
#include <vector>

#include "worker-agent/watch/watch_feed.h"

namespace intercom {

// An event that waits for its session.
struct WaitingEvent {
  // "<watch>/<number>".
  std::string id;
  std::string watch;
  std::string label;
  WatchEvent event;
};

// What the model reads: who says it outside, what a program wrote fenced, a
// text of 4,000 characters at most. `omitted`: events that did not fit.
std::string WatchText(const std::vector<WaitingEvent>& events, int omitted);

// One line for a person.
std::string WatchSummary(const std::vector<WaitingEvent>& events, int omitted);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_TEXT_H_
