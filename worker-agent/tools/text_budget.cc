#include "worker-agent/tools/text_budget.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/str_split.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

constexpr size_t kHeadPercent = 65;
// Of the line that says what is missing.
constexpr size_t kMarkCharacters = 110;
constexpr size_t kWhereCharacters = 56;

// What a line takes, with its LF.
size_t Cost(std::string_view line) { return CharacterCount(line) + 1; }

// The characters of a fenced line without its prefix.
size_t Said(std::string_view line) {
  const size_t characters = CharacterCount(line);
  return characters - std::min<size_t>(characters, 2);
}

// The first `count` characters of `text`.
std::string_view FirstCharacters(std::string_view text, size_t count) {
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if ((static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) continue;
    if (count-- == 0) break;
  }
  return text.substr(0, end);
}

std::string Mark(size_t lines, size_t characters, std::string_view where) {
  std::string mark = "[" + std::to_string(lines) +
                     (lines == 1 ? " line, " : " lines, ") +
                     std::to_string(characters) + " characters left out";
  if (!where.empty()) mark += "; " + SafeLabel(where, kWhereCharacters);
  return mark + "]\n";
}

}  // namespace

std::vector<size_t> FairShares(const std::vector<size_t>& needs, size_t total,
                               size_t least) {
  std::vector<size_t> order(needs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return needs[a] < needs[b]; });
  std::vector<size_t> shares(needs.size());
  size_t left = total;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t fair = std::max(left / (order.size() - i), least);
    shares[order[i]] = std::min(needs[order[i]], fair);
    left -= std::min(left, shares[order[i]]);
  }
  return shares;
}

size_t FencedLength(std::string_view body) {
  return CharacterCount(FenceText(body)) + 1;
}

std::string FenceWithin(std::string_view body, size_t budget,
                        std::string_view where) {
  const std::string fenced = FenceText(body);
  if (CharacterCount(fenced) + 1 <= budget) return fenced + "\n";
  const std::vector<std::string> lines = absl::StrSplit(fenced, '\n');
  const size_t room = budget - std::min(budget, kMarkCharacters);
  size_t head = 0;
  size_t used = 0;
  while (head < lines.size() &&
         used + Cost(lines[head]) <= room * kHeadPercent / 100) {
    used += Cost(lines[head++]);
  }
  size_t tail = lines.size();
  while (tail > head && used + Cost(lines[tail - 1]) <= room) {
    used += Cost(lines[--tail]);
  }
  std::string text;
  for (size_t i = 0; i < head; ++i) text += lines[i] + "\n";
  size_t missing = 0;
  for (size_t i = head; i < tail; ++i) missing += Said(lines[i]);
  // Better the beginning of a line than nothing of it.
  if (head == 0 && room > used + 4) {
    const std::string_view begun = FirstCharacters(lines[0], room - used - 2);
    text += std::string(begun) + "…\n";
    missing -= Said(begun);
  }
  text += Mark(tail - head, missing, where);
  for (size_t i = tail; i < lines.size(); ++i) {
    text += lines[i] + "\n";
  }
  return text;
}

std::string WholeLinesWithin(std::string_view text, size_t budget) {
  if (CharacterCount(text) <= budget) return std::string(text);
  const size_t room = budget - std::min(budget, kMarkCharacters);
  std::string kept;
  size_t used = 0;
  size_t left = 0;
  const std::vector<std::string> lines =
      absl::StrSplit(std::string(text), '\n');
  for (const std::string& line : lines) {
    if (left == 0 && used + Cost(line) <= room) {
      used += Cost(line);
      kept += line + "\n";
    } else {
      ++left;
    }
  }
  return kept + "[" + std::to_string(left) + " lines left out]\n";
}

}  // namespace intercom
