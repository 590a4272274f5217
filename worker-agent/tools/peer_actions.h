#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_ACTIONS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_ACTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// The actions of the tool `intercom`, in the order in which it names them.
std::vector<std::string> PeerActionNames();

// `arguments` without what says nothing: empty texts and lists, which some
// models give for each argument that there is.
Json WithoutEmpty(const Json& arguments);

// OK if the arguments, which keep the tool's schema, are those that their
// action takes and has to have; else INVALID_ARGUMENT (ARGUMENT_INVALID),
// saying which not.
absl::Status CheckPeerArguments(const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_ACTIONS_H_
