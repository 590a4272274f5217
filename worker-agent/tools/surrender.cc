#include "worker-agent/tools/surrender.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace intercom {
namespace {

// In lower case, with straight apostrophes.
constexpr std::string_view kAnywhere[] = {
    "i am blocked",
    "i'm blocked",
    "i am still blocked",
    "i am stuck",
    "i'm stuck",
    "i cannot proceed",
    "i can't proceed",
    "i cannot continue",
    "i can't continue",
    "cannot proceed without",
    "can't proceed without",
    "cannot continue without",
    "can't continue without",
    "i am unable to",
    "i'm unable to",
    "i was unable to",
    "i was not able to complete",
    "i wasn't able to complete",
    "i could not complete",
    "i couldn't complete",
    "i could not finish",
    "i couldn't finish",
    "i need a decision",
    "i need your decision",
    "i need clarification",
    "i need more information",
    "i am waiting for your",
    "i'm waiting for your",
    "before i can continue",
    "before i can proceed",
};

// A line that begins so, behind marks of a list or a heading.
constexpr std::string_view kAtLineStart[] = {
    "blocked:",        "blocked by ",   "blocked on ",
    "status: blocked", "still blocked", "blocker:",
};

bool BeginsSo(std::string_view line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t#*->_"), line.size()));
  return std::any_of(
      std::begin(kAtLineStart), std::end(kAtLineStart),
      [line](std::string_view start) { return line.starts_with(start); });
}

}  // namespace

bool SaysItIsBlocked(std::string_view text) {
  std::string said =
      absl::StrReplaceAll(std::string(text), {{"\u2019", "'"}, {"**", ""}});
  absl::AsciiStrToLower(&said);
  if (std::any_of(std::begin(kAnywhere), std::end(kAnywhere),
                  [&said](std::string_view words) {
                    return said.find(words) != std::string::npos;
                  })) {
    return true;
  }
  const std::vector<std::string> lines = absl::StrSplit(said, '\n');
  return std::any_of(lines.begin(), lines.end(), BeginsSo);
}

}  // namespace intercom
