#ifndef PI_INTERCOM_BROKER_WORK_CAPABILITY_H_
#define PI_INTERCOM_BROKER_WORK_CAPABILITY_H_

#include <string_view>

#include "absl/status/status.h"
#include "broker/roster/roster.h"

namespace intercom {

// OK, or FAILED_PRECONDITION: WORKER_AWAY; HOST_NOT_VERIFIED unless the host of
// `attachment`, which may be null, is known to do `capability` safely.
absl::Status CheckHostCan(std::string_view capability,
                          const Attachment* attachment,
                          const v1::AgentEntry& entry);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_CAPABILITY_H_
