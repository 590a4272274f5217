#ifndef PI_INTERCOM_BROKER_DOMAIN_ACTIVITY_H_
#define PI_INTERCOM_BROKER_DOMAIN_ACTIVITY_H_

#include <string_view>

#include "intercom/v1/roster.pb.h"

namespace intercom {

// "idle", "working", "thinking", "responding", "tool".
std::string_view PhaseName(v1::ActivityPhase phase);

// The phase of that name; UNSPECIFIED for others.
v1::ActivityPhase PhaseNamed(std::string_view name);

// Whether a host says `label` of any activity, whatever it works on: such a
// label is kept where no content may be.
bool IsPublicLabel(std::string_view label);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_ACTIVITY_H_
