#ifndef PI_INTERCOM_WORKER_AGENT_LINK_FAILURE_POLICY_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_FAILURE_POLICY_H_

#include "absl/status/status.h"

namespace intercom {

// What to do after an attempt to attach failed.
enum class AfterFailure {
  // The broker is away or busy: try again with backoff.
  kRetrySoon,
  // A person has to mend something first: tell, then try now and then.
  kRetryLater,
  // Trying again can't help.
  kGiveUp,
  // Another attachment has the session.
  kSuperseded,
};

// Decides by code and reason, never by text. `status` is not OK.
AfterFailure PolicyFor(const absl::Status& status);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_FAILURE_POLICY_H_
