#ifndef PI_INTERCOM_BROKER_DOMAIN_ACTIVITY_H_
#define PI_INTERCOM_BROKER_DOMAIN_ACTIVITY_H_

#include <string_view>

#include "intercom/v1/roster.pb.h"

namespace intercom {

// "idle", "working", "thinking", "responding", "tool".
std::string_view PhaseName(v1::ActivityPhase phase);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_ACTIVITY_H_
