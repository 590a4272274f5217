#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_INSTRUCTIONS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_INSTRUCTIONS_H_

#include <optional>
#include <string>

#include "intercom/v1/roster.pb.h"

namespace intercom {

// What a session is, as far as its model must know.
struct SessionIdentity {
  v1::Role role = v1::ROLE_UNSPECIFIED;
  // The entry whose responsibility the session has loaded, if any.
  std::optional<v1::AgentEntry> loaded;
  // Canonical path; empty for peers.
  std::string workspace_root;
};

// The text for the model's system prompt: who it is, its responsibility, and
// the standing rules. Empty before the session has a role.
std::string InstructionsFor(const SessionIdentity& identity);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_INSTRUCTIONS_H_
