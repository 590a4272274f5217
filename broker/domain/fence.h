#ifndef PI_INTERCOM_BROKER_DOMAIN_FENCE_H_
#define PI_INTERCOM_BROKER_DOMAIN_FENCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace intercom {

// How another agent's text is made harmless before a model reads it or a
// terminal shows it: its words inside a fence, who said them outside. Pure
// functions; what they return is valid UTF-8 whatever they are given, and
// bounds count characters (code points).

// Characters of `text`, or nullopt if it is not UTF-8.
std::optional<size_t> CountCharacters(std::string_view text);

// `text` without what could steer a terminal, hide its reading order or be
// read by a machine alone: C0 and C1 controls except tab and newline, escape
// sequences (an unterminated one loses only its introducer), bidirectional
// controls and hidden characters. CRLF, CR and the other line breaks become
// LF, invalid UTF-8 becomes U+FFFD. One scan, in proportion to the text.
std::string StripControls(std::string_view text);

// Text of another agent as data: each line stripped and prefixed with "> ".
// Never empty; no line of the result lacks the prefix.
std::string FenceText(std::string_view body);

// A text that is no name, such as a path, an error or a preview, as one plain
// line: stripped, white space runs become one space, at most `max_characters`;
// "unnamed" if nothing is left.
std::string SafeLabel(std::string_view label, size_t max_characters = 80);

// The same between double quotes, of which none is left inside: where it ends
// is beyond doubt.
std::string QuotedLine(std::string_view text, size_t max_characters = 80);

// The same, bare where it has nothing but letters, digits, "._@+#-:/~" and
// single spaces, quoted else. For a path or a remark that stands among the
// facts about its author.
std::string MarkedLine(std::string_view text, size_t max_characters = 80);

// Most characters of who said something, with all that stands around a name.
inline constexpr size_t kMaxAttributionCharacters = 96;

// A name where it says who somebody or what something is: NFKC; letters of any
// script with their marks, digits and "._@+#-"; what else it has becomes one
// space between words. No such name can look like a line, a quote, a bracket
// or the end of an attribution. "unnamed" without a letter or digit.
//
// It may differ from the name: see IsNameLabel() and IsShownAs().
std::string NameLabel(std::string_view name, size_t max_characters = 80);

// Whether the label is the very name.
bool IsNameLabel(std::string_view name);

// Whether `name` is shown as `label`, regardless of case. Who reads a label may
// use it as the name.
bool IsShownAs(std::string_view name, std::string_view label);

// The label of a name; of the id where the name leaves none.
std::string NameOr(std::string_view name, std::string_view id);

// An id as one word: as a name, but without spaces and with ":" and "/".
std::string IdLabel(std::string_view id, size_t max_characters = 330);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_FENCE_H_
