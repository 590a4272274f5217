#include "broker/domain/fence.h"

#include <algorithm>
#include <cstdint>

namespace intercom {
namespace {

constexpr uint32_t kInvalid = 0xffffffff;
constexpr char kReplacement[] = "\xef\xbf\xbd";
// An escape sequence longer than this is no sequence of any terminal.
constexpr size_t kMaxSequenceBytes = 4096;

// Decodes one code point at `at` and moves past it. An invalid byte gives
// kInvalid and moves by one.
uint32_t NextCodePoint(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const unsigned char first = byte(at);
  if (first < 0x80) {
    ++at;
    return first;
  }
  size_t length = 0;
  uint32_t value = 0;
  uint32_t smallest = 0;
  if ((first & 0xe0) == 0xc0) {
    length = 2, value = first & 0x1f, smallest = 0x80;
  } else if ((first & 0xf0) == 0xe0) {
    length = 3, value = first & 0x0f, smallest = 0x800;
  } else if ((first & 0xf8) == 0xf0) {
    length = 4, value = first & 0x07, smallest = 0x10000;
  }
  if (length == 0 || at + length > text.size()) {
    ++at;
    return kInvalid;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(at + i) & 0xc0) != 0x80) {
      ++at;
      return kInvalid;
    }
    value = (value << 6) | (byte(at + i) & 0x3f);
  }
  if (value < smallest || value > 0x10ffff ||
      (value >= 0xd800 && value <= 0xdfff)) {
    ++at;
    return kInvalid;
  }
  at += length;
  return value;
}

bool IsBidi(uint32_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

bool IsControl(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0x2028 || c == 0x2029 ||
         c == 0xfeff;
}

// The end of the escape sequence that starts at `at` (an ESC), or `at` + 1 if
// it is not terminated within bounds.
size_t EndOfEscape(std::string_view text, size_t at) {
  const size_t limit = std::min(text.size(), at + kMaxSequenceBytes);
  size_t i = at + 1;
  if (i >= limit) return at + 1;
  const char kind = text[i];
  if (kind == '[') {  // CSI: parameters, then a final byte 0x40 to 0x7e
    for (++i; i < limit; ++i) {
      if (text[i] >= 0x40 && text[i] <= 0x7e) return i + 1;
      if (text[i] < 0x20 || text[i] == 0x7f) break;
    }
    return at + 2;
  }
  if (kind == ']' || kind == 'P' || kind == 'X' || kind == '^' ||
      kind == '_') {  // a string, ended by BEL or ESC backslash
    for (++i; i < limit; ++i) {
      if (text[i] == '\a') return i + 1;
      if (text[i] == '\x1b' && i + 1 < limit && text[i + 1] == '\\') {
        return i + 2;
      }
    }
    return at + 2;
  }
  return kind >= 0x20 && kind < 0x7f ? at + 2 : at + 1;
}

}  // namespace

std::optional<size_t> CountCharacters(std::string_view text) {
  size_t count = 0;
  for (size_t at = 0; at < text.size(); ++count) {
    if (NextCodePoint(text, at) == kInvalid) return std::nullopt;
  }
  return count;
}

std::string StripControls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '\x1b') {
      at = EndOfEscape(text, at);
      continue;
    }
    const size_t start = at;
    const uint32_t c = NextCodePoint(text, at);
    if (c == kInvalid) {
      out += kReplacement;
    } else if (c == '\r') {
      if (at >= text.size() || text[at] != '\n') out += '\n';
    } else if (c == '\n' || c == '\t') {
      out += static_cast<char>(c);
    } else if (c == 0x2028 || c == 0x2029 || c == 0x85) {
      out += '\n';
    } else if (!IsControl(c) && !IsBidi(c)) {
      out.append(text.substr(start, at - start));
    }
  }
  return out;
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
  return out.empty() ? "unnamed" : out;
}

}  // namespace intercom
