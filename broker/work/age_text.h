#ifndef PI_INTERCOM_BROKER_WORK_AGE_TEXT_H_
#define PI_INTERCOM_BROKER_WORK_AGE_TEXT_H_

#include <algorithm>
#include <cstdint>
#include <string>

#include "absl/time/time.h"

namespace intercom {

// "40 s", "3 min", "2 h".
inline std::string AgeText(absl::Duration age) {
  if (age < absl::Minutes(1)) {
    return std::to_string(std::max<int64_t>(0, absl::ToInt64Seconds(age))) +
           " s";
  }
  if (age < absl::Hours(1)) {
    return std::to_string(absl::ToInt64Minutes(age)) + " min";
  }
  return std::to_string(absl::ToInt64Hours(age)) + " h";
}

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_AGE_TEXT_H_
