#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_REQUESTS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_REQUESTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// What `intercom` with send, ask or reply submits; the arguments passed
// CheckPeerArguments(). The envelope id is `messageId`, else `call_id`.
// `trigger` is the delivery that started the turn, if one did; `cwd` the
// canonical directory, where the arguments have one. An ask waits `timeoutMs`,
// else `ask_time`.
v1::Submit PeerSubmitOf(const Json& arguments, const std::string& call_id,
                        const std::string& trigger, const std::string& cwd,
                        absl::Duration ask_time);

// Who started this session as its child, and for whom it works.
struct Supervisor {
  // A session's name or id.
  std::string target;
  // Used instead of `target` unless empty.
  std::string session_id;
  std::string run_id;
  std::string agent;
  std::string index;
};

// What `contact_supervisor` submits. INVALID_ARGUMENT (ARGUMENT_INVALID) if
// message or interview are missing, out of place or wrong.
absl::StatusOr<v1::Submit> SupervisorSubmitOf(const Json& arguments,
                                              const std::string& call_id,
                                              const Supervisor& supervisor,
                                              absl::Duration ask_time);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_REQUESTS_H_
