#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_REQUESTS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_REQUESTS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/run.pb.h"
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

// What `intercom` with steer submits: a message to the worker of a run.
v1::Submit SteerSubmitOf(const Json& arguments, const std::string& call_id);

// What `contact_peer` submits. `trigger` tells of which run.
v1::Submit FellowSubmitOf(const Json& arguments, const std::string& call_id,
                          const std::string& trigger);

// The supervisor of a run that this session works on, or the session that
// opened it as a headless worker.
struct Delegation {
  std::string supervisor_session_id = {};
  std::string supervisor_name = {};
  // Empty for a headless worker without a run.
  std::string run_id = {};
  std::string label = {};
};

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

// The same to the supervisor of a run: an ask, which need_decision and
// interview_request are, and a note, which progress_update leaves. Besides,
// INVALID_ARGUMENT if the message has more than 8,000 characters.
absl::StatusOr<v1::Submit> DelegatedAskOf(const Json& arguments,
                                          const std::string& call_id,
                                          const Delegation& delegation,
                                          absl::Duration ask_time);
absl::StatusOr<v1::AddNoteRequest> NoteOf(const Json& arguments,
                                          const std::string& call_id,
                                          const Delegation& delegation);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_REQUESTS_H_
