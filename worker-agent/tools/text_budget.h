#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_TEXT_BUDGET_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_TEXT_BUDGET_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// How a bounded text is shared out. Lengths are characters.

// What each of those that want `needs` gets of `total`: all that it needs, or
// the same as every other that does not get all. Never less than `least` where
// it needs that much, even if the sum exceeds `total` then.
std::vector<size_t> FairShares(const std::vector<size_t>& needs, size_t total,
                               size_t least);

// `body` fenced, ended by LF: whole, or whole lines of its beginning and its
// end, about two thirds of them beginning, with a line of ours between that
// says how much is missing and `where` all of it is. At most `budget`
// characters, or that line alone. Only a line that is too long by itself is
// cut, at its end.
std::string FenceWithin(std::string_view body, size_t budget,
                        std::string_view where);

// The characters that FenceText() of `body` has, with a LF at its end.
size_t FencedLength(std::string_view body);

// `text`, whose lines are ours or fenced: as many whole lines of it as `budget`
// characters have room for, and a last line that says so if some are missing.
std::string WholeLinesWithin(std::string_view text, size_t budget);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_TEXT_BUDGET_H_
