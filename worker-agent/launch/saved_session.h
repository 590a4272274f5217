#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_SAVED_SESSION_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_SAVED_SESSION_H_

#include <string>

#include "absl/status/statusor.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// Finds the file of a saved Pi session as a Pi that is started in `directory`
// would: in PI_CODING_AGENT_SESSION_DIR, else the directory that the project's
// or the person's settings name, else Pi's default below `agent_dir`. Relative
// directories count from `directory`. A file counts by the id in its header.
//
// NOT_FOUND (SESSION_FILE_MISSING) says where was looked. FAILED_PRECONDITION
// (SETTINGS_INVALID): a settings file can't be read. Blocks.
absl::StatusOr<std::string> FindSavedSession(const std::string& session_id,
                                             const std::string& directory,
                                             const std::string& agent_dir,
                                             const Environment& environment);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_SAVED_SESSION_H_
