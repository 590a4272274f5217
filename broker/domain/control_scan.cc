#include "broker/domain/control_scan.h"

#include <algorithm>

namespace intercom {
namespace {

constexpr char kReplacement[] = "\xef\xbf\xbd";
// An escape sequence longer than this is no sequence of any terminal.
constexpr size_t kMaxSequenceBytes = 4096;
constexpr size_t kMaxCodePointBytes = 4;
constexpr unsigned char kEscape = 0x1b;

// How many bytes a character that starts with `lead` has; 0 for none.
size_t LengthOf(unsigned char lead) {
  if (lead < 0x80) return 1;
  if ((lead & 0xe0) == 0xc0) return 2;
  if ((lead & 0xf0) == 0xe0) return 3;
  return (lead & 0xf8) == 0xf0 ? 4 : 0;
}

bool IsBidi(uint32_t c) {
  return c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

// Read by machines and shown to nobody: a way to hide words from a person.
bool IsHidden(uint32_t c) {
  return (c >= 0x2060 && c <= 0x2065) || (c >= 0x206a && c <= 0x206f) ||
         (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f) ||
         c == 0xfeff;
}

bool IsControl(uint32_t c) { return c < 0x20 || (c >= 0x7f && c <= 0x9f); }

}  // namespace

uint32_t NextCodePoint(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const size_t start = at++;
  const size_t length = LengthOf(byte(start));
  if (length == 1) return byte(start);
  if (length == 0 || length > text.size() - start) return kNoCodePoint;
  constexpr unsigned char kLeadBits[] = {0, 0, 0x1f, 0x0f, 0x07};
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  uint32_t value = byte(start) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) {
    if ((byte(start + i) & 0xc0) != 0x80) return kNoCodePoint;
    value = (value << 6) | (byte(start + i) & 0x3f);
  }
  if (value < kSmallest[length] || value > 0x10ffff ||
      (value >= 0xd800 && value <= 0xdfff)) {
    return kNoCodePoint;
  }
  at = start + length;
  return value;
}

std::string ControlScan::Strip() {
  std::string out;
  out.reserve(text_.size());
  for (size_t at = 0; at < text_.size();) {
    if (Look(at) == kEscape) {
      at = EndOfEscape(at);
      continue;
    }
    const size_t start = at;
    const uint32_t c = NextCodePoint(text_, at);
    looks_ += c == kNoCodePoint ? kMaxCodePointBytes : at - start;
    if (c == kNoCodePoint) {
      out += kReplacement;
    } else if (c == '\r') {
      if (at >= text_.size() || text_[at] != '\n') out += '\n';
    } else if (c == '\n' || c == '\t') {
      out += static_cast<char>(c);
    } else if (c == 0x2028 || c == 0x2029 || c == 0x85) {
      out += '\n';
    } else if (!IsControl(c) && !IsBidi(c) && !IsHidden(c)) {
      out.append(text_.substr(start, at - start));
    }
  }
  return out;
}

unsigned char ControlScan::Look(size_t at) {
  ++looks_;
  return static_cast<unsigned char>(text_[at]);
}

size_t ControlScan::EndOfEscape(size_t at) {
  const size_t limit =
      at + std::min<size_t>(text_.size() - at, kMaxSequenceBytes);
  if (at + 1 >= limit) return at + 1;
  const unsigned char kind = Look(at + 1);
  switch (kind) {
    case '[':
      return EndOfParameters(at + 2, limit);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
      return EndOfString(at + 2, limit);
    default:
      break;
  }
  // Perhaps one that chooses a character set, with a byte more.
  if (kind >= 0x20 && kind < 0x30 && at + 2 < limit) {
    const unsigned char last = Look(at + 2);
    if (last >= 0x30 && last < 0x7f) return at + 3;
  }
  return kind >= 0x20 && kind < 0x7f ? at + 2 : at + 1;
}

size_t ControlScan::EndOfParameters(size_t at, size_t limit) {
  for (size_t i = at; i < limit; ++i) {
    const unsigned char byte = Look(i);
    if (byte >= 0x40 && byte < 0x7f) return i + 1;
    if (byte < 0x20 || byte >= 0x7f) break;
  }
  return at;
}

size_t ControlScan::EndOfString(size_t at, size_t limit) {
  for (size_t i = at; i < limit; ++i) {
    const unsigned char byte = Look(i);
    if (byte == '\a') return i + 1;
    const bool is_pair = i + 1 < limit;
    if (byte == kEscape && is_pair && text_[i + 1] == '\\') return i + 2;
    if (byte == 0xc2 && is_pair && text_[i + 1] == '\x9c') return i + 2;
    // Neither a new sequence nor another line belongs to it.
    if (byte < 0x20) break;
  }
  return at;
}

}  // namespace intercom
