#include "broker/server/settings.h"

#include <string>

#include "absl/strings/numbers.h"
#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/work/reports.h"

namespace intercom {
namespace {

constexpr double kMaxSeconds = 366.0 * 24 * 3600;

}  // namespace

absl::StatusOr<absl::Duration> OverdueSetting(std::string_view flag,
                                              std::string_view variable) {
  const std::string_view text = flag.empty() ? variable : flag;
  if (text.empty()) return Reports::kOverdueAfter;
  double seconds = 0;
  if (!absl::SimpleAtod(absl::string_view(text.data(), text.size()),
                        &seconds) ||
      !(seconds >= 0 && seconds <= kMaxSeconds)) {
    return Error(absl::StatusCode::kInvalidArgument, "SETTING_INVALID",
                 (flag.empty() ? kOverdueVariable : std::string("--overdue")) +
                     " is " + QuotedLine(text) +
                     "; it takes the seconds after which an unanswered "
                     "report is overdue, up to a year, or 0 for never");
  }
  return seconds == 0 ? absl::InfiniteDuration() : absl::Seconds(seconds);
}

}  // namespace intercom
