#include "broker/domain/activity.h"

#include <algorithm>
#include <array>

namespace intercom {
namespace {

constexpr std::array<std::string_view, 9> kPublicLabels = {
    "Processing",       "Thinking",
    "Writing response", "Reading files",
    "Editing files",    "Running command",
    "Using a tool",     "Running multiple tools",
    "Turn settled"};

}  // namespace

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

v1::ActivityPhase PhaseNamed(std::string_view name) {
  for (int phase = 1; phase <= v1::ActivityPhase_MAX; ++phase) {
    if (PhaseName(static_cast<v1::ActivityPhase>(phase)) == name) {
      return static_cast<v1::ActivityPhase>(phase);
    }
  }
  return v1::ACTIVITY_PHASE_UNSPECIFIED;
}

bool IsPublicLabel(std::string_view label) {
  return std::find(kPublicLabels.begin(), kPublicLabels.end(), label) !=
         kPublicLabels.end();
}

}  // namespace intercom
