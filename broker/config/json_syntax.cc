#include "broker/config/json_syntax.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

using nlohmann::json;

constexpr size_t kMaxDepth = 64;

absl::string_view ToAbsl(std::string_view text) {
  return {text.data(), text.size()};
}

// Follows the parser and stops it at what DOM parsing would accept silently.
class SyntaxCheck : public nlohmann::json_sax<json> {
 public:
  explicit SyntaxCheck(std::string_view bytes) : bytes_(bytes) {}

  // What is wrong, with its place. Empty while nothing is.
  const std::string& problem() const { return problem_; }

  bool null() override { return Value(); }
  bool boolean(bool) override { return Value(); }
  bool number_integer(number_integer_t) override { return Value(); }
  bool number_unsigned(number_unsigned_t) override { return Value(); }
  bool number_float(number_float_t, const string_t&) override {
    return Value();
  }
  bool string(string_t&) override { return Value(); }
  bool binary(binary_t&) override { return Value(); }
  bool start_object(size_t) override { return Enter(/*is_array=*/false); }
  bool end_object() override { return Leave(); }
  bool start_array(size_t) override { return Enter(/*is_array=*/true); }
  bool end_array() override { return Leave(); }

  bool key(string_t& name) override {
    Frame& frame = frames_.back();
    frame.key = name;
    if (frame.keys.insert(name).second) return true;
    problem_ = absl::StrCat("duplicate key ", Pointer());
    return false;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    const size_t at = std::min(position > 0 ? position - 1 : 0, bytes_.size());
    const std::string_view before = bytes_.substr(0, at);
    const size_t line = 1 + std::count(before.begin(), before.end(), '\n');
    const size_t newline = before.rfind('\n');
    const size_t column =
        newline == std::string_view::npos ? at + 1 : at - newline;
    std::string what = error.what();
    what = what.substr(0, what.find("; last read:"));
    for (const char* prefix : {"] ", ": "}) {
      const size_t end = what.find(prefix);
      if (end != std::string::npos) what = what.substr(end + 2);
    }
    problem_ = absl::StrCat("line ", line, ", column ", column, ": ", what);
    return false;
  }

 private:
  struct Frame {
    bool is_array;
    size_t next_index = 0;
    std::string key = {};
    std::set<std::string> keys = {};
  };

  bool Value() {
    if (!frames_.empty() && frames_.back().is_array) {
      ++frames_.back().next_index;
    }
    return true;
  }

  bool Enter(bool is_array) {
    Value();
    frames_.push_back({.is_array = is_array});
    if (frames_.size() <= kMaxDepth) return true;
    problem_ = absl::StrCat("nested deeper than ", kMaxDepth, " levels");
    return false;
  }

  bool Leave() {
    frames_.pop_back();
    return true;
  }

  // The JSON pointer of the key read last.
  std::string Pointer() const {
    json::json_pointer pointer;
    for (const Frame& frame : frames_) {
      if (frame.is_array) {
        pointer /= frame.next_index - 1;
      } else {
        pointer /= frame.key;
      }
    }
    return pointer.to_string();
  }

  const std::string_view bytes_;
  std::vector<Frame> frames_;
  std::string problem_;
};

// The first line that starts with a merge conflict marker, else 0.
size_t MergeMarkerLine(std::string_view bytes) {
  size_t line = 1;
  for (size_t begin = 0; begin < bytes.size(); ++line) {
    const std::string_view start = bytes.substr(begin, 7);
    if (start == "<<<<<<<" || start == "=======" || start == ">>>>>>>") {
      return line;
    }
    const size_t newline = bytes.find('\n', begin);
    if (newline == std::string_view::npos) break;
    begin = newline + 1;
  }
  return 0;
}

}  // namespace

std::string_view WithoutBom(std::string_view bytes) {
  if (bytes.substr(0, 3) == "\xEF\xBB\xBF") bytes.remove_prefix(3);
  return bytes;
}

absl::Status ConfigInvalid(std::string_view path, std::string_view what) {
  return Error(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID",
               absl::StrCat(ToAbsl(path), ": ", ToAbsl(what)));
}

absl::StatusOr<json> ParseConfigJson(std::string_view bytes,
                                     std::string_view path) {
  if (bytes.size() > kMaxConfigBytes) {
    return ConfigInvalid(path, "larger than the limit of 4 MiB");
  }
  bytes = WithoutBom(bytes);
  if (const size_t line = MergeMarkerLine(bytes); line != 0) {
    return ConfigInvalid(
        path, absl::StrCat("line ", line,
                           ", column 1: merge conflict marker; resolve the "
                           "conflict first"));
  }
  SyntaxCheck check(bytes);
  if (!json::sax_parse(bytes.begin(), bytes.end(), &check)) {
    return ConfigInvalid(path, check.problem());
  }
  json parsed = json::parse(bytes.begin(), bytes.end(), nullptr,
                            /*allow_exceptions=*/false);
  if (parsed.is_discarded()) return ConfigInvalid(path, "not JSON");
  return parsed;
}

}  // namespace intercom
