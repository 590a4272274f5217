#include "broker/domain/job.h"

namespace intercom {

std::string_view JobKindName(v1::Job::Kind kind) {
  switch (kind) {
    case v1::Job::KIND_CREATE:
      return "create";
    case v1::Job::KIND_RESUME:
      return "resume";
    case v1::Job::KIND_STOP:
      return "stop";
    case v1::Job::KIND_CLOSE:
      return "close";
    case v1::Job::KIND_OPEN:
      return "open";
    default:
      return "unknown";
  }
}

std::string_view JobStateName(v1::Job::State state) {
  switch (state) {
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
      return "succeeded";
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

}  // namespace intercom
