#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_EDIT_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_EDIT_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "intercom/v1/roster.pb.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Pure edits of a config.json: bytes in, bytes out. They replace only the
// values that change: unknown keys, order, indentation, line ends and the end
// of the file stay, so that a diff shows the change and nothing else. An edit
// that changes nothing returns its input.
//
// All of them return CONFIG_INVALID when `bytes` are not a valid config, and
// INVALID_ARGUMENT (reason ENTRY_INVALID) naming the rule that the result would
// break.

// Adds a worker, or changes name, description, port and project directory of
// the one with `agent.session_id`, keeping its handoff, closeJob and unknown
// keys. `coordinator` and `entry_hash` of `agent` are ignored.
//
// FAILED_PRECONDITION (TARGET_IS_COORDINATOR) if the id is the coordinator's.
absl::StatusOr<std::string> UpsertWorker(std::string_view bytes,
                                         const v1::AgentEntry& agent);

// Records the actual port of a configured session. NOT_FOUND (NO_ENTRY) if
// there is none with that id.
absl::StatusOr<std::string> SetPort(std::string_view bytes,
                                    std::string_view session_id, int port);

// Records how far a close job has come in the entry of its session, and the
// handoff with it unless that is null. NOT_FOUND (NO_ENTRY) if there is no such
// entry.
absl::StatusOr<std::string> SetCloseJob(std::string_view bytes,
                                        const v1::Job& job,
                                        const v1::Handoff* handoff);

// Removes the coordinator's `dashboardPort`, if it is there.
absl::StatusOr<std::string> DropDashboardPort(std::string_view bytes);

// Takes out the worker with that session id, with the comma and the line end
// that belong to it. NOT_FOUND: NO_ENTRY. FAILED_PRECONDITION:
// TARGET_IS_COORDINATOR.
absl::StatusOr<std::string> RemoveWorker(std::string_view bytes,
                                         std::string_view session_id);

// Sets what launches workers; the key comes behind `version` where there is
// none.
absl::StatusOr<std::string> SetMultiplexer(std::string_view bytes,
                                           std::string_view multiplexer);

// A fresh config with `session_id` as coordinator.
absl::StatusOr<std::string> NewConfig(std::string_view session_id, int port);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_EDIT_H_
