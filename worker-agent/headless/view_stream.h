#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_VIEW_STREAM_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_VIEW_STREAM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace intercom {

// The first line that a viewer gets: so many bytes are there already.
std::string ViewHead(int64_t bytes);

// Follows the headless host at the socket `path`: `show` gets what it said so
// far and, if `follow`, what it says until it ends or `show` returns false.
// Blocks. NOT_FOUND (SOCKET_ABSENT): nobody is there. UNAVAILABLE (VIEW_LOST):
// the other end is none, or let this viewer go before it had what was there.
absl::Status View(const std::string& path, bool follow,
                  const std::function<bool(std::string_view)>& show);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_VIEW_STREAM_H_
