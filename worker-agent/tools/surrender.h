#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_SURRENDER_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_SURRENDER_H_

#include <string_view>

namespace intercom {

// Whether a worker's last text reads as if it had given up before the work was
// done: it says of itself that it is blocked, can't go on, or waits for an
// answer. A guess, for a hint to its supervisor; knows English only.
bool SaysItIsBlocked(std::string_view text);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_SURRENDER_H_
