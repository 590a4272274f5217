#include "worker-agent/tools/bounded_text.h"

#include <algorithm>

namespace intercom {
namespace {

// Room for the line that says what was left out.
constexpr size_t kNoteBytes = 512;

}  // namespace

std::string BoundText(std::string_view text, std::string_view where) {
  const auto newlines =
      static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  const size_t lines = newlines + (text.ends_with('\n') ? 0 : 1);
  if (text.size() <= kMaxResultBytes && lines <= kMaxResultLines) {
    return std::string(text);
  }
  size_t end = 0;
  size_t kept = 0;
  while (kept < kMaxResultLines - 1) {
    const size_t newline = text.find('\n', end);
    if (newline == std::string_view::npos ||
        newline + 1 > kMaxResultBytes - kNoteBytes) {
      break;
    }
    end = newline + 1;
    ++kept;
  }
  if (kept == 0) {
    end = kMaxResultBytes - kNoteBytes;
    // Not between the bytes of one character.
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) {
      --end;
    }
  }
  std::string bounded(text.substr(0, end));
  if (!bounded.ends_with('\n')) bounded += '\n';
  bounded += "[cut: " + std::to_string(kept) + " of " + std::to_string(lines) +
             " lines, " + std::to_string(end) + " of " +
             std::to_string(text.size()) + " bytes shown; ";
  bounded += where.substr(0, kNoteBytes / 2);
  bounded += "]";
  return bounded;
}

}  // namespace intercom
