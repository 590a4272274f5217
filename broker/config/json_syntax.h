#ifndef PI_INTERCOM_BROKER_CONFIG_JSON_SYNTAX_H_
#define PI_INTERCOM_BROKER_CONFIG_JSON_SYNTAX_H_

#include <cstddef>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace intercom {

// The largest config.json, in bytes.
constexpr size_t kMaxConfigBytes = size_t{4} << 20;

// `bytes` without a leading byte order mark.
std::string_view WithoutBom(std::string_view bytes);

// FAILED_PRECONDITION with reason CONFIG_INVALID: "<path>: <what>".
absl::Status ConfigInvalid(std::string_view path, std::string_view what);

// Parses strict JSON; a byte order mark and CRLF are fine. CONFIG_INVALID
// naming `path`, and line and column of a syntax error: also for merge
// conflict markers, duplicate keys (named by their JSON pointer), nesting
// deeper than 64, and files larger than kMaxConfigBytes.
absl::StatusOr<nlohmann::json> ParseConfigJson(std::string_view bytes,
                                               std::string_view path);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_JSON_SYNTAX_H_
