#ifndef PI_INTERCOM_BROKER_CONFIG_JSON_TEXT_H_
#define PI_INTERCOM_BROKER_CONFIG_JSON_TEXT_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// Where values stand in the text of a JSON file, so that an edit can replace
// their bytes and leave every other byte alone. All functions need text that
// was parsed before: they do not check it.

// Half open range of byte offsets.
struct Span {
  size_t begin = 0;
  size_t end = 0;
};

struct MemberSpan {
  std::string key;
  // From the key's opening quote to the end of the value.
  Span whole;
  Span value;
};

// The value of the whole text.
Span RootSpan(std::string_view text);

// The members of the object at `object`, in order.
std::vector<MemberSpan> MemberSpans(std::string_view text, Span object);

// The elements of the array at `array`, in order.
std::vector<Span> ElementSpans(std::string_view text, Span array);

// The value of `key` in the object at `object`, which has it.
Span ValueOf(std::string_view text, Span object, std::string_view key);

// "\r\n" or "\n", whichever ends the first line; "" if there is one line only.
std::string NewlineOf(std::string_view text);

// What indents one level: the white space that starts the first indented line.
// Two spaces if there is none.
std::string IndentOf(std::string_view text);

// The white space between the start of the line and `at`; nullptr data if
// something else stands there.
std::string_view LineIndent(std::string_view text, size_t at);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_JSON_TEXT_H_
