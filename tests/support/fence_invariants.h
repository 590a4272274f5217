#ifndef PI_INTERCOM_TESTS_SUPPORT_FENCE_INVARIANTS_H_
#define PI_INTERCOM_TESTS_SUPPORT_FENCE_INVARIANTS_H_

#include <string>
#include <string_view>

#include "broker/domain/control_scan.h"
#include "broker/domain/fence.h"
#include "tests/support/hostile_text.h"

namespace intercom {

// Which promise of fence.h does not hold for `text`; empty where all do.
inline std::string BrokenPromise(std::string_view text) {
  const std::string clean = StripControls(text);
  if (!IsHarmless(clean)) return "StripControls leaves harm";
  if (StripControls(clean) != clean) return "StripControls is not idempotent";
  if (text.size() < clean.size() && CountCharacters(text).has_value()) {
    return "StripControls makes valid text longer";
  }
  ControlScan scan(text);
  if (scan.Strip() != clean) return "ControlScan differs from StripControls";
  if (scan.looks() > ControlScan::kMostLooks * text.size()) {
    return "a byte is looked at too often";
  }
  const std::string fenced = FenceText(text);
  if (!IsHarmless(fenced)) return "FenceText leaves harm";
  for (size_t at = 0; at != std::string::npos;) {
    if (fenced.compare(at, 2, "> ") != 0) return "a line is not quoted";
    at = fenced.find('\n', at);
    if (at != std::string::npos) ++at;
  }
  for (const size_t most : {1, 7, 80}) {
    for (const std::string& label :
         {SafeLabel(text, most), NameLabel(text, most), IdLabel(text, most)}) {
      if (!IsHarmless(label)) return "a label leaves harm";
      if (label.find_first_of("\n\t") != std::string::npos) {
        return "a label has several lines";
      }
      if (label != "unnamed" && *CountCharacters(label) > most) {
        return "a label is too long";
      }
    }
    const std::string quoted = QuotedLine(text, most);
    if (quoted.size() < 2 || !quoted.starts_with('"') ||
        quoted.find('"', 1) != quoted.size() - 1) {
      return "it is not clear where a quoted line ends";
    }
  }
  const std::string name = NameLabel(text);
  if (NameLabel(name) != name) return "NameLabel is not idempotent";
  if (name.find_first_of("()[]{}<>\"'`:;,*=!?/\\|~$%&^") != std::string::npos) {
    return "a name has a mark of its own";
  }
  if (name.find("  ") != std::string::npos || name.starts_with(' ') ||
      name.ends_with(' ')) {
    return "a name has more than single spaces";
  }
  const std::string id = IdLabel(text);
  if (IdLabel(id) != id) return "IdLabel is not idempotent";
  if (id.find(' ') != std::string::npos) return "an id is several words";
  return "";
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_FENCE_INVARIANTS_H_
