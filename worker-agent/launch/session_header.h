#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_SESSION_HEADER_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_SESSION_HEADER_H_

#include <optional>
#include <string>

namespace intercom {

// What the first entry of a Pi session file says.
struct SessionHeader {
  std::string id;
  // Where the session worked; empty if it does not say.
  std::string cwd;
};

// The header of the session file at `path`, as Pi finds it: the first line that
// is JSON, within the first MiB. nullopt if there is no such file or it is no
// session.
std::optional<SessionHeader> ReadSessionHeader(const std::string& path);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_SESSION_HEADER_H_
