#include "broker/config/config_splice.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/config/json_syntax.h"
#include "broker/config/workspace_config.h"

namespace intercom {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kFileName = "config.json";

absl::Status EntryInvalid(absl::string_view what) {
  return Error(absl::StatusCode::kInvalidArgument, "ENTRY_INVALID",
               std::string(what));
}

}  // namespace

std::string ApplySplices(std::string_view text, std::vector<Splice> splices) {
  std::sort(splices.begin(), splices.end(),
            [](const Splice& a, const Splice& b) {
              return a.span.begin < b.span.begin;
            });
  std::string out;
  size_t at = 0;
  for (const Splice& splice : splices) {
    out += text.substr(at, splice.span.begin - at);
    out += splice.bytes;
    at = splice.span.end;
  }
  out += text.substr(at);
  return out;
}

absl::StatusOr<std::string> Dump(const ordered_json& value, int indent) {
  try {
    return value.dump(indent);
  } catch (const json::exception&) {
    return EntryInvalid("text is not valid UTF-8");
  }
}

absl::StatusOr<std::string> Checked(std::string text) {
  const auto config = WorkspaceConfig::Parse(text, kFileName);
  if (!config.ok()) return EntryInvalid(config.status().message());
  return text;
}

absl::StatusOr<std::vector<EntryText>> Entries(std::string_view bytes) {
  INTERCOM_RETURN_IF_ERROR(WorkspaceConfig::Parse(bytes, kFileName).status());
  INTERCOM_ASSIGN_OR_RETURN(json file, ParseConfigJson(bytes, kFileName));
  std::vector<EntryText> entries;
  for (const Span& span :
       ElementSpans(bytes, ValueOf(bytes, RootSpan(bytes), "agents"))) {
    entries.push_back({std::move(file["agents"][entries.size()]), span});
  }
  return entries;
}

std::string NextOf(std::string_view bytes, std::string_view line_indent) {
  if (line_indent.data() == nullptr) return ", ";
  return "," + NewlineOf(bytes) + std::string(line_indent);
}

bool HasManyLines(std::string_view bytes, Span span) {
  return bytes.substr(span.begin, span.end - span.begin).find('\n') !=
         std::string_view::npos;
}

absl::StatusOr<std::string> DumpAs(std::string_view bytes,
                                   std::string_view line_indent,
                                   bool many_lines,
                                   const ordered_json& object) {
  INTERCOM_ASSIGN_OR_RETURN(std::string text,
                            Dump(object, many_lines ? 1 : -1));
  const std::string newline = NewlineOf(bytes) + std::string(line_indent);
  // Strings hold no raw line end, so these are all structure.
  return absl::StrReplaceAll(
      text, {{"\n ", newline + IndentOf(bytes)}, {"\n}", newline + "}"}});
}

}  // namespace intercom
