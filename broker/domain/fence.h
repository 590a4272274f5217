#ifndef PI_INTERCOM_BROKER_DOMAIN_FENCE_H_
#define PI_INTERCOM_BROKER_DOMAIN_FENCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace intercom {

// Characters (code points) of `text`, or nullopt if it is not UTF-8.
std::optional<size_t> CountCharacters(std::string_view text);

// `text` without what could steer a terminal or hide its reading order:
// C0 and C1 controls except tab and newline, escape sequences (an unterminated
// one loses only its introducer), and bidirectional controls. CRLF and CR
// become LF. Invalid UTF-8 becomes U+FFFD. One bounded scan.
std::string StripControls(std::string_view text);

// Text of another agent as data: each line stripped and prefixed with "> ".
// Never empty; no line of the result lacks the prefix.
std::string FenceText(std::string_view body);

// A name or label as one plain line for attribution: stripped, white space
// runs become one space, at most `max_characters`; "unnamed" if nothing is
// left.
std::string SafeLabel(std::string_view label, size_t max_characters = 80);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_FENCE_H_
