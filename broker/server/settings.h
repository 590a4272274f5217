#ifndef PI_INTERCOM_BROKER_SERVER_SETTINGS_H_
#define PI_INTERCOM_BROKER_SERVER_SETTINGS_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace intercom {

inline constexpr char kOverdueVariable[] = "PI_INTERCOM_OVERDUE_SECONDS";

// After how long a report that awaits an answer is overdue: seconds, up to a
// year, that the flag `--overdue` gives, else the variable, else the default;
// infinite for 0. Empty texts are as if not given. INVALID_ARGUMENT
// (SETTING_INVALID) names which of the two is wrong.
absl::StatusOr<absl::Duration> OverdueSetting(std::string_view flag,
                                              std::string_view variable);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_SERVER_SETTINGS_H_
