#ifndef PI_INTERCOM_BROKER_DOMAIN_JOB_H_
#define PI_INTERCOM_BROKER_DOMAIN_JOB_H_

#include <string_view>

#include "intercom/v1/work.pb.h"

namespace intercom {

// "create", "resume", "stop", "close", "open"; else "unknown".
std::string_view JobKindName(v1::Job::Kind kind);

// "requested", "awaiting_handoff", "succeeded" and so on; else "unknown".
std::string_view JobStateName(v1::Job::State state);

// Whether a job in this state has not ended.
bool IsPending(v1::Job::State state);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_JOB_H_
