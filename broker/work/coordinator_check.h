#ifndef PI_INTERCOM_BROKER_WORK_COORDINATOR_CHECK_H_
#define PI_INTERCOM_BROKER_WORK_COORDINATOR_CHECK_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/config/config_file.h"
#include "broker/config/config_lanes.h"
#include "broker/roster/roster.h"
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

// The last word before such an edit is published: the attachment of
// `session_id` whose call it was must be there still. ABORTED (OLD_EPOCH)
// otherwise. Made on the state's thread.
inline ConfigLanes::Guard WhileAttached(const Roster& roster,
                                        std::string_view session_id) {
  const Attachment* attachment = roster.Find(session_id);
  if (attachment == nullptr) return nullptr;
  return [live = attachment->live] {
    if (live->load()) return absl::OkStatus();
    return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
                 "the attachment that asked for this has left; nothing was "
                 "written");
  };
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_COORDINATOR_CHECK_H_
