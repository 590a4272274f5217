#ifndef PI_INTERCOM_BROKER_WORK_WORKER_OBSERVATION_H_
#define PI_INTERCOM_BROKER_WORK_WORKER_OBSERVATION_H_

#include <optional>
#include <string>

#include "absl/time/time.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// What is known of a worker's session when somebody looks.
struct Sighting {
  struct Activity {
    v1::ActivityPhase phase = v1::ACTIVITY_PHASE_UNSPECIFIED;
    std::string label;
    absl::Time at;
  };
  bool attached = false;
  // A probe says otherwise than the attachment.
  bool contradicted = false;
  // It may be on its way back: it said so, or this broker is younger than it.
  bool may_be_back = false;
  // Of an attached session the present one, else the last that was recorded.
  std::optional<Activity> activity;
  // Of the last attachment. Unset if there never was one.
  std::optional<absl::Time> attached_at;
  std::optional<absl::Time> last_seen_at;
  // When a close job last closed it.
  std::optional<absl::Time> closed_at;
};

// An observation older than this is stale.
inline constexpr absl::Duration kStaleAfter = absl::Seconds(60);

// Fills status, last activity, observation and evidence of `worker`. What
// contradicts itself is unknown. Pure.
void Judge(const Sighting& sighting, absl::Time now, v1::WorkerStatus& worker);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_WORKER_OBSERVATION_H_
