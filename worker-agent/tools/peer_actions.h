#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_ACTIONS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_ACTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// Limits of what has to do with runs, in characters; what exceeds one is
// refused.
inline constexpr int kMostIdCharacters = 160;
inline constexpr int kMostBodyCharacters = 8000;
inline constexpr int kMostLabelCharacters = 80;
// Of the arguments in milliseconds.
inline constexpr int kMostMilliseconds = 2'147'483'647;

// The actions of the tool `intercom`, in the order in which it names them.
// `supervises`: with those that follow runs.
std::vector<std::string> IntercomActionNames(bool supervises);

// `arguments` without what says nothing: empty texts and lists, which some
// models give for each argument that there is.
Json WithoutEmpty(const Json& arguments);

// `arguments` under their present names: `to` of an action that takes a run is
// runId, askId of a reply is replyTo. What is there under both names stays.
Json WithoutAliases(const Json& arguments);

// OK if the arguments, which keep the tool's schema, are those that their
// action takes and has to have; else INVALID_ARGUMENT (ARGUMENT_INVALID),
// saying which not.
absl::Status CheckPeerArguments(const Json& arguments);

// How long a `wait` with these arguments lasts: 1 s to 10 min, which is also
// what it lasts without timeoutMs.
absl::Duration WaitTimeOf(const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_ACTIONS_H_
