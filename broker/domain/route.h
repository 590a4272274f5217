#ifndef PI_INTERCOM_BROKER_DOMAIN_ROUTE_H_
#define PI_INTERCOM_BROKER_DOMAIN_ROUTE_H_

#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// Finds the entry that `to` names among the workspace's `entries`: a name,
// regardless of case, or a full session id; else what the name of one entry
// alone is shown as, see NameLabel(). `sender_session_id` is never its own
// recipient.
//
// INVALID_ARGUMENT: TARGET_EMPTY, SELF_TARGET. NOT_FOUND: UNKNOWN_RECIPIENT,
// naming those that exist.
absl::StatusOr<v1::AgentEntry> Route(
    std::string_view to, std::string_view sender_session_id,
    const std::vector<v1::AgentEntry>& entries);

// As Route, for operations on a worker. FAILED_PRECONDITION
// (TARGET_IS_COORDINATOR) for the coordinator; NOT_FOUND is UNKNOWN_WORKER.
absl::StatusOr<v1::AgentEntry> RouteToWorker(
    std::string_view to, const std::vector<v1::AgentEntry>& entries);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_ROUTE_H_
