#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_BOUNDED_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_BOUNDED_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace intercom {

inline constexpr size_t kMaxResultBytes = 50 << 10;
inline constexpr size_t kMaxResultLines = 2000;

// `text`, or as many whole lines of it as a tool result may have together with
// a last line that says what was left out and `where` the full text is. A line
// that is too long by itself is cut between characters.
std::string BoundText(std::string_view text, std::string_view where);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_BOUNDED_TEXT_H_
