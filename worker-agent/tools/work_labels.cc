#include "worker-agent/tools/work_labels.h"

#include "broker/domain/job.h"

namespace intercom {

std::string_view JobStateLabel(const v1::Job& job) {
  if (job.state() != v1::Job::STATE_SUCCEEDED) return JobStateName(job.state());
  if (job.kind() == v1::Job::KIND_CLOSE) return "closed";
  return job.kind() == v1::Job::KIND_STOP ? "stopped" : "attached";
}

std::string_view ObservedLabel(v1::ObservedStatus status) {
  switch (status) {
    case v1::OBSERVED_STATUS_IDLE:
      return "idle";
    case v1::OBSERVED_STATUS_THINKING:
      return "thinking";
    case v1::OBSERVED_STATUS_WORKING:
      return "working";
    case v1::OBSERVED_STATUS_CLOSED:
      return "closed";
    default:
      return "unknown";
  }
}

std::string_view EvidenceLabel(v1::ObservationEvidence evidence) {
  switch (evidence) {
    case v1::OBSERVATION_EVIDENCE_MISSING:
      return "missing";
    case v1::OBSERVATION_EVIDENCE_CLOCK_UNCERTAIN:
      return "clock_uncertain";
    case v1::OBSERVATION_EVIDENCE_CONFLICTING:
      return "conflicting";
    case v1::OBSERVATION_EVIDENCE_STALE:
      return "stale";
    case v1::OBSERVATION_EVIDENCE_RECENT:
      return "recent";
    default:
      return "unknown";
  }
}

std::string_view ConnectionLabel(v1::Connection::State state) {
  switch (state) {
    case v1::Connection::STATE_CONNECTED:
      return "connected";
    case v1::Connection::STATE_DISCONNECTED:
      return "disconnected";
    case v1::Connection::STATE_RESTARTING:
      return "restarting";
    default:
      return "unknown";
  }
}

}  // namespace intercom
