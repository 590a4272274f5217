#ifndef PI_INTERCOM_BROKER_DOMAIN_TEXT_RULES_H_
#define PI_INTERCOM_BROKER_DOMAIN_TEXT_RULES_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace intercom {

// Pure questions about valid UTF-8. Lengths are counted in characters (code
// points).

size_t CharacterCount(std::string_view text);

// Whether every character is white space. True for "".
bool IsBlank(std::string_view text);

// Whether white space stands at neither end.
bool IsTrimmed(std::string_view text);

// Whether a C0 or C1 control character or DEL is in it.
bool HasControlCharacter(std::string_view text);

// Two names are the same when their folds are equal: case is ignored, for
// every script that knows it.
std::string FoldName(std::string_view name);

// `text` without white space at its ends.
std::string_view Trimmed(std::string_view text);

// What the name that a person gave is found by: its fold without white space
// around it. Empty where it is blank.
std::string NameKey(std::string_view name);

// A stable hash of `bytes`: 32 hexadecimal characters. Tells versions apart; it
// is no protection against somebody who looks for collisions.
std::string ContentHash(std::string_view bytes);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_TEXT_RULES_H_
