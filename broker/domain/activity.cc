#include "broker/domain/activity.h"

namespace intercom {

std::string_view PhaseName(v1::ActivityPhase phase) {
  switch (phase) {
    case v1::ACTIVITY_PHASE_IDLE:
      return "idle";
    case v1::ACTIVITY_PHASE_WORKING:
      return "working";
    case v1::ACTIVITY_PHASE_THINKING:
      return "thinking";
    case v1::ACTIVITY_PHASE_RESPONDING:
      return "responding";
    case v1::ACTIVITY_PHASE_TOOL:
      return "tool";
    default:
      return "unknown";
  }
}

}  // namespace intercom
