#ifndef PI_INTERCOM_BROKER_WORK_COORDINATOR_CHECK_H_
#define PI_INTERCOM_BROKER_WORK_COORDINATOR_CHECK_H_

#include <string>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/config/config_file.h"
#include "broker/roster/workspace_mirror.h"

namespace intercom {

// What an edit of the config that a coordinator asked for checks on the file
// that it has read: the coordinator of `decided`, whose call it was, must be
// the one whom the file names. FAILED_PRECONDITION (COORDINATOR_CHANGED)
// otherwise.
inline absl::Status CheckCoordinator(const ReadConfig& read,
                                     const Workspace& decided) {
  const std::string& named = read.config.coordinator().session_id();
  if (named == decided.coordinator_session_id &&
      decided.claimed_coordinator_session_id.empty()) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kFailedPrecondition, "COORDINATOR_CHANGED",
               "the config names session " + named +
                   " as coordinator now; nothing was written. Put " +
                   decided.coordinator_session_id +
                   " back into the file, or have a person confirm the change "
                   "with: intercom coordinator take");
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_COORDINATOR_CHECK_H_
