#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_SPLICE_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_SPLICE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "broker/config/json_text.h"
#include "nlohmann/json.hpp"

namespace intercom {

// What the edits of a config.json are made of. For this room only.

// Bytes to put in place of a span.
struct Splice {
  Span span;
  std::string bytes;
};

std::string ApplySplices(std::string_view text, std::vector<Splice> splices);

// The JSON text of `value`, at most `indent` spaces a level (-1: one line).
// INVALID_ARGUMENT (ENTRY_INVALID) if it holds text that is not UTF-8.
absl::StatusOr<std::string> Dump(const nlohmann::ordered_json& value,
                                 int indent);

// The text of a flat object that begins in a line indented by `line_indent`.
absl::StatusOr<std::string> DumpAs(std::string_view bytes,
                                   std::string_view line_indent,
                                   bool many_lines,
                                   const nlohmann::ordered_json& object);

// `text`; INVALID_ARGUMENT (ENTRY_INVALID) if it breaks a rule of the config.
absl::StatusOr<std::string> Checked(std::string text);

// An entry in the text of a valid config.
struct EntryText {
  nlohmann::json value;
  Span span;
};

// The entries of `bytes`, in order; CONFIG_INVALID if they are no config.
absl::StatusOr<std::vector<EntryText>> Entries(std::string_view bytes);

// What separates the next element or member from one that begins a line
// indented by `line_indent`, or, if its data is null, that begins no line.
std::string NextOf(std::string_view bytes, std::string_view line_indent);

bool HasManyLines(std::string_view bytes, Span span);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_SPLICE_H_
