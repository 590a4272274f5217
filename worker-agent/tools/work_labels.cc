#include "worker-agent/tools/work_labels.h"

namespace intercom {

std::string_view JobKindLabel(v1::Job::Kind kind) {
  switch (kind) {
    case v1::Job::KIND_CREATE:
      return "create";
    case v1::Job::KIND_RESUME:
      return "resume";
    case v1::Job::KIND_STOP:
      return "stop";
    case v1::Job::KIND_CLOSE:
      return "close";
    default:
      return "unknown";
  }
}

std::string_view JobStateLabel(const v1::Job& job) {
  switch (job.state()) {
    case v1::Job::STATE_REQUESTED:
      return "requested";
    case v1::Job::STATE_ACKNOWLEDGED:
      return "acknowledged";
    case v1::Job::STATE_AWAITING_HANDOFF:
      return "awaiting_handoff";
    case v1::Job::STATE_AWAITING_SETTLEMENT:
      return "awaiting_settlement";
    case v1::Job::STATE_READY:
      return "ready";
    case v1::Job::STATE_CLOSING:
      return "closing";
    case v1::Job::STATE_SUBMITTED:
      return "submitted";
    case v1::Job::STATE_SUCCEEDED:
      if (job.kind() == v1::Job::KIND_CLOSE) return "closed";
      return job.kind() == v1::Job::KIND_STOP ? "stopped" : "attached";
    case v1::Job::STATE_FAILED:
      return "failed";
    case v1::Job::STATE_TIMED_OUT:
      return "timed_out";
    case v1::Job::STATE_INTERRUPTED:
      return "interrupted";
    case v1::Job::STATE_UNCERTAIN:
      return "uncertain";
    default:
      return "unknown";
  }
}

bool IsPending(v1::Job::State state) {
  return state >= v1::Job::STATE_REQUESTED && state <= v1::Job::STATE_SUBMITTED;
}

std::string_view ReportLabel(v1::Report::Status status) {
  switch (status) {
    case v1::Report::STATUS_BLOCKED:
      return "blocked";
    case v1::Report::STATUS_NEEDS_DECISION:
      return "needs_decision";
    case v1::Report::STATUS_READY_FOR_REVIEW:
      return "ready_for_review";
    case v1::Report::STATUS_CLEAR:
      return "clear";
    default:
      return "unknown";
  }
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
