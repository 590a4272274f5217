#ifndef PI_INTERCOM_BROKER_DOMAIN_SHORT_ID_H_
#define PI_INTERCOM_BROKER_DOMAIN_SHORT_ID_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace intercom {

// Shortest prefix of an id that is taken for it, in characters.
inline constexpr size_t kMinIdPrefix = 6;

// Shortest prefix of an id that is shown, in characters.
inline constexpr size_t kMinShortId = 8;

// For each of `ids` its shortest prefix, of `kMinShortId` characters or more,
// that no other of them shares; the whole id where it is shorter, or itself the
// beginning of another. Prefixes end between characters.
std::vector<std::string> ShortIds(const std::vector<std::string_view>& ids);

// What an unnamed session is shown as.
inline constexpr std::string_view kRuntimeNamePrefix = "session-";
std::string RuntimeName(std::string_view short_id);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_SHORT_ID_H_
