#include "broker/domain/short_id.h"

#include <algorithm>

#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

size_t SharedBytes(std::string_view a, std::string_view b) {
  const auto [end, other] =
      std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<size_t>(end - a.begin());
}

// The end of the character that begins at or before `index`.
size_t EndOfCharacter(std::string_view text, size_t index) {
  size_t end = std::min(index + 1, text.size());
  while (end < text.size() &&
         (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) {
    ++end;
  }
  return end;
}

}  // namespace

std::vector<std::string> ShortIds(const std::vector<std::string_view>& ids) {
  std::vector<size_t> order(ids.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return ids[a] < ids[b]; });
  std::vector<std::string> shortened(ids.size());
  for (size_t i = 0; i < order.size(); ++i) {
    const std::string_view id = ids[order[i]];
    // Of all others its neighbours share the most with it.
    size_t shared = 0;
    if (i > 0) shared = SharedBytes(id, ids[order[i - 1]]);
    if (i + 1 < order.size()) {
      shared = std::max(shared, SharedBytes(id, ids[order[i + 1]]));
    }
    size_t end = EndOfCharacter(id, shared);
    while (end < id.size() && CharacterCount(id.substr(0, end)) < kMinShortId) {
      end = EndOfCharacter(id, end);
    }
    shortened[order[i]] = id.substr(0, end);
  }
  return shortened;
}

std::string RuntimeName(std::string_view short_id) {
  return std::string(kRuntimeNamePrefix) + std::string(short_id);
}

}  // namespace intercom
