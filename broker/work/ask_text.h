#ifndef PI_INTERCOM_BROKER_WORK_ASK_TEXT_H_
#define PI_INTERCOM_BROKER_WORK_ASK_TEXT_H_

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// Asks in words, and who can be answered.

// The session id of the broker's own notices.
inline constexpr std::string_view kBrokerSessionId = "broker";

// Whether mail to this sender reaches a session: not that of a person or a
// client, who has only what a call of theirs waits for. An unknown origin is a
// session's.
inline bool IsOfSession(const v1::Sender& sender) {
  return sender.origin() != v1::ORIGIN_PERSON &&
         sender.origin() != v1::ORIGIN_CLIENT;
}

// Whether a session's agent takes what is sent to this sender, and says what
// becomes of it: what a command of a shell waited for is the command's.
inline bool IsOfAgent(const v1::Sender& sender) {
  return IsOfSession(sender) && sender.origin() != v1::ORIGIN_SHELL;
}

// The shortest beginning of `id`, of 8 characters or more, that none of the
// others has.
inline std::string ShortIdAmong(const std::string& id,
                                const std::vector<std::string>& ids) {
  size_t length = std::min<size_t>(8, id.size());
  for (const std::string& other : ids) {
    if (other == id) continue;
    while (length < id.size() && other.starts_with(id.substr(0, length))) {
      ++length;
    }
  }
  return id.substr(0, length);
}

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

#endif  // PI_INTERCOM_BROKER_WORK_ASK_TEXT_H_
