#include "broker/work/worker_observation.h"

#include <algorithm>

#include "broker/base/proto_time.h"
#include "broker/domain/activity.h"

namespace intercom {
namespace {

v1::ObservedStatus StatusOf(v1::ActivityPhase phase) {
  switch (phase) {
    case v1::ACTIVITY_PHASE_IDLE:
      return v1::OBSERVED_STATUS_IDLE;
    case v1::ACTIVITY_PHASE_THINKING:
      return v1::OBSERVED_STATUS_THINKING;
    case v1::ACTIVITY_PHASE_WORKING:
    case v1::ACTIVITY_PHASE_RESPONDING:
    case v1::ACTIVITY_PHASE_TOOL:
      return v1::OBSERVED_STATUS_WORKING;
    default:
      return v1::OBSERVED_STATUS_UNSPECIFIED;
  }
}

void JudgeAttached(const Sighting& sighting, absl::Time now,
                   v1::WorkerStatus& worker) {
  *worker.mutable_observed_at() = ToProto(now);
  worker.set_observation_age_seconds(0);
  if (sighting.contradicted) {
    worker.set_evidence(v1::OBSERVATION_EVIDENCE_CONFLICTING);
    return;
  }
  worker.set_evidence(v1::OBSERVATION_EVIDENCE_RECENT);
  if (sighting.activity.has_value()) {
    worker.set_observed_status(StatusOf(sighting.activity->phase));
  }
}

void JudgeAbsent(const Sighting& sighting, absl::Time now,
                 v1::WorkerStatus& worker) {
  if (!sighting.last_seen_at.has_value() || !sighting.attached_at.has_value()) {
    worker.set_evidence(v1::OBSERVATION_EVIDENCE_MISSING);
    return;
  }
  absl::Time observed_at = *sighting.last_seen_at;
  if (sighting.activity.has_value()) {
    observed_at = std::max(observed_at, sighting.activity->at);
  }
  *worker.mutable_observed_at() = ToProto(observed_at);
  if (observed_at > now) {
    worker.set_evidence(v1::OBSERVATION_EVIDENCE_CLOCK_UNCERTAIN);
    return;
  }
  worker.set_observation_age_seconds(absl::ToInt64Seconds(now - observed_at));
  worker.set_stale(now - observed_at > kStaleAfter);
  worker.set_evidence(worker.stale() ? v1::OBSERVATION_EVIDENCE_STALE
                                     : v1::OBSERVATION_EVIDENCE_RECENT);
  if (sighting.closed_at.has_value() &&
      *sighting.closed_at >= *sighting.attached_at) {
    worker.set_observed_status(v1::OBSERVED_STATUS_CLOSED);
    return;
  }
  // What an earlier attachment did says nothing of the last one.
  if (!sighting.activity.has_value() ||
      sighting.activity->at < *sighting.attached_at) {
    return;
  }
  const v1::ObservedStatus last = StatusOf(sighting.activity->phase);
  if (last != v1::OBSERVED_STATUS_IDLE && !sighting.may_be_back) {
    // It left without having settled.
    worker.set_evidence(v1::OBSERVATION_EVIDENCE_CONFLICTING);
    return;
  }
  worker.set_observed_status(last);
}

}  // namespace

void Judge(const Sighting& sighting, absl::Time now, v1::WorkerStatus& worker) {
  if (const auto& activity = sighting.activity; activity.has_value()) {
    worker.set_last_activity(activity->label.empty()
                                 ? std::string(PhaseName(activity->phase))
                                 : activity->label);
    *worker.mutable_last_activity_at() = ToProto(activity->at);
  }
  if (sighting.attached) {
    JudgeAttached(sighting, now, worker);
  } else {
    JudgeAbsent(sighting, now, worker);
  }
}

}  // namespace intercom
