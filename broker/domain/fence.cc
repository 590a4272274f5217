#include "broker/domain/fence.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "broker/domain/control_scan.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

constexpr char kFallback[] = "unnamed";
constexpr char kNameSigns[] = "._@+#-";
constexpr size_t kMaxName = 80;
// More marks on one letter than any language has. It also bounds the work of
// putting them in order.
constexpr int kMaxMarks = 6;

struct Free {
  void operator()(utf8proc_uint8_t* text) const { std::free(text); }
};

bool IsMark(uint32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
      return true;
    default:
      return false;
  }
}

// Letters that are drawn like the marks that an attribution is built with.
bool LooksLikePunctuation(uint32_t c) {
  return (c >= 0x01c0 && c <= 0x01c3) || (c >= 0x02b0 && c <= 0x02ff) ||
         c == 0x119e || c == 0x1427 || c == 0x1433 || c == 0x1438 ||
         c == 0xa78f || (c >= 0xa4f8 && c <= 0xa4fd);
}

bool IsLetterOrDigit(uint32_t c) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
      return !LooksLikePunctuation(c);
    default:
      return false;
  }
}

// `text` in NFKC and without what is shown nowhere. Reads so much of it as can
// matter to a label of `max_characters`.
std::string Normalized(std::string_view text, size_t max_characters) {
  const std::string clean = StripControls(text);
  std::string bounded;
  int marks = 0;
  const size_t limit = 8 * max_characters + 256;
  size_t characters = 0;
  for (size_t at = 0; at < clean.size() && characters < limit; ++characters) {
    const size_t start = at;
    marks = IsMark(NextCodePoint(clean, at)) ? marks + 1 : 0;
    if (marks <= kMaxMarks) bounded.append(clean, start, at - start);
  }
  utf8proc_uint8_t* mapped = nullptr;
  const utf8proc_ssize_t size = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(bounded.data()),
      static_cast<utf8proc_ssize_t>(bounded.size()), &mapped,
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPAT |
                                     UTF8PROC_COMPOSE | UTF8PROC_IGNORE));
  const std::unique_ptr<utf8proc_uint8_t, Free> owned(mapped);
  if (size < 0) return "";
  return std::string(reinterpret_cast<const char*>(mapped),
                     static_cast<size_t>(size));
}

// The label of `text` that keeps letters, their marks, digits and `signs`, and
// has `gap` where there is something else between them.
std::string Kept(std::string_view text, size_t max_characters,
                 std::string_view signs, char gap) {
  const std::string normal = Normalized(text, max_characters);
  std::string out;
  size_t characters = 0;
  int marks = 0;
  bool is_after_letter = false;
  bool has_gap = false;
  for (size_t at = 0; at < normal.size();) {
    const size_t start = at;
    const uint32_t c = NextCodePoint(normal, at);
    const bool is_letter = IsLetterOrDigit(c);
    marks = IsMark(c) ? marks + 1 : 0;
    const bool is_kept =
        marks > 0
            ? is_after_letter && marks <= kMaxMarks
            : is_letter || (c < 0x80 && signs.find(static_cast<char>(c)) !=
                                            std::string::npos);
    if (marks == 0) is_after_letter = is_letter;
    if (!is_kept) {
      // A mark too many is no gap.
      if (marks == 0) has_gap = !out.empty();
      continue;
    }
    if (characters + (has_gap ? 2 : 1) > max_characters) break;
    if (has_gap) {
      out += gap;
      ++characters;
      has_gap = false;
    }
    out.append(normal, start, at - start);
    ++characters;
  }
  return out;
}

// A label of signs alone names nobody.
bool HasLetterOrDigit(std::string_view label) {
  for (size_t at = 0; at < label.size();) {
    if (IsLetterOrDigit(NextCodePoint(label, at))) return true;
  }
  return false;
}

std::string OrFallback(std::string label) {
  return HasLetterOrDigit(label) ? std::move(label) : kFallback;
}

}  // namespace

std::optional<size_t> CountCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    if (NextCodePoint(text, at) == kNoCodePoint) return std::nullopt;
  }
  return count;
}

std::string StripControls(std::string_view text) {
  return ControlScan(text).Strip();
}

std::string FenceText(std::string_view body) {
  const std::string clean = StripControls(body);
  std::string out = "> ";
  for (const char c : clean) {
    out += c;
    if (c == '\n') out += "> ";
  }
  return out;
}

std::string SafeLabel(std::string_view label, size_t max_characters) {
  const std::string clean = StripControls(label);
  std::string out;
  size_t characters = 0;
  bool gap = false;
  for (size_t at = 0; at < clean.size();) {
    const size_t start = at;
    const uint32_t c = NextCodePoint(clean, at);
    if (c == ' ' || c == '\t' || c == '\n' || c == 0xa0 || c == 0x3000) {
      gap = !out.empty();
      continue;
    }
    if (characters + (gap ? 2 : 1) > max_characters) break;
    if (gap) {
      out += ' ';
      ++characters;
      gap = false;
    }
    out.append(clean, start, at - start);
    ++characters;
  }
  return out.empty() ? kFallback : out;
}

std::string QuotedLine(std::string_view text, size_t max_characters) {
  std::string line = SafeLabel(text, max_characters);
  std::replace(line.begin(), line.end(), '"', '\'');
  return "\"" + line + "\"";
}

std::string MarkedLine(std::string_view text, size_t max_characters) {
  const std::string line = SafeLabel(text, max_characters);
  return Kept(line, max_characters, "._@+#-:/~", ' ') == line
             ? line
             : QuotedLine(line, max_characters);
}

std::string NameLabel(std::string_view name, size_t max_characters) {
  return OrFallback(Kept(name, max_characters, kNameSigns, ' '));
}

bool IsShownAs(std::string_view name, std::string_view label) {
  const std::string shown = Kept(name, kMaxName, kNameSigns, ' ');
  return HasLetterOrDigit(shown) && NameKey(shown) == NameKey(label);
}

std::string NameOr(std::string_view name, std::string_view id) {
  const std::string label = Kept(name, kMaxName, kNameSigns, ' ');
  return HasLetterOrDigit(label) ? label : IdLabel(id, kMaxName);
}

bool IsNameLabel(std::string_view name) {
  return NameLabel(name, name.size()) == name;
}

std::string IdLabel(std::string_view id, size_t max_characters) {
  return OrFallback(Kept(id, max_characters, "._@+#-:/", '_'));
}

}  // namespace intercom
