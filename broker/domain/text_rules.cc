#include "broker/domain/text_rules.h"

#include <locale.h>
#include <wctype.h>

#include <algorithm>
#include <cstdint>

namespace intercom {
namespace {

// The code point at `index`, which moves behind it. Broken sequences yield
// their first byte.
char32_t Next(std::string_view text, size_t& index) {
  const auto lead = static_cast<unsigned char>(text[index++]);
  const int more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
  if (more == 0 || index + more > text.size()) return lead;
  char32_t point = lead & (0x3F >> more);
  for (int i = 0; i < more; ++i) {
    point = point << 6 | (static_cast<unsigned char>(text[index++]) & 0x3F);
  }
  return point;
}

bool IsSpace(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 ||
         c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

void Append(char32_t c, std::string& out) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

}  // namespace

size_t CharacterCount(std::string_view text) {
  size_t count = 0;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) ++count;
  }
  return count;
}

bool IsBlank(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    if (!IsSpace(Next(text, i))) return false;
  }
  return true;
}

bool IsTrimmed(std::string_view text) {
  bool last_is_space = false;
  for (size_t i = 0; i < text.size();) {
    const bool first = i == 0;
    last_is_space = IsSpace(Next(text, i));
    if (first && last_is_space) return false;
  }
  return !last_is_space;
}

bool HasControlCharacter(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const char32_t c = Next(text, i);
    if (c < 0x20 || (c >= 0x7F && c < 0xA0)) return true;
  }
  return false;
}

std::string FoldName(std::string_view name) {
  // Built into glibc, so that the answer does not depend on the environment.
  static const locale_t kUtf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
  std::string folded;
  for (size_t i = 0; i < name.size();) {
    const char32_t c = Next(name, i);
    if (c < 0x80) {
      folded += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (kUtf8 != nullptr) {
      Append(towlower_l(static_cast<wint_t>(c), kUtf8), folded);
    } else {
      Append(c, folded);
    }
  }
  return folded;
}

std::string_view Trimmed(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  for (size_t i = 0; i < text.size();) {
    const size_t at = i;
    if (IsSpace(Next(text, i))) continue;
    begin = std::min(begin, at);
    end = i;
  }
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

std::string NameKey(std::string_view name) { return FoldName(Trimmed(name)); }

std::string ContentHash(std::string_view bytes) {
  // FNV-1a with 128 bits.
  using Uint128 = unsigned __int128;
  constexpr Uint128 kPrime = (static_cast<Uint128>(1) << 88) + 0x13B;
  Uint128 hash = static_cast<Uint128>(0x6c62272e07bb0142) << 64 |
                 static_cast<Uint128>(0x62b821756295c58d);
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= kPrime;
  }
  std::string hex(32, '0');
  for (int i = 31; i >= 0; --i) {
    hex[i] = "0123456789abcdef"[static_cast<unsigned>(hash & 0xF)];
    hash >>= 4;
  }
  return hex;
}

}  // namespace intercom
