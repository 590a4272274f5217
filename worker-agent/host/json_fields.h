#ifndef PI_INTERCOM_WORKER_AGENT_HOST_JSON_FIELDS_H_
#define PI_INTERCOM_WORKER_AGENT_HOST_JSON_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nlohmann/json.hpp"

namespace intercom {

using Json = nlohmann::json;

// Members of a JSON object that somebody else wrote. None of these throws: a
// member that is absent or of another type, and an `object` that is none,
// count as absent.
std::optional<std::string> StringField(const Json& object,
                                       std::string_view key);
std::string StringOr(const Json& object, std::string_view key,
                     std::string_view fallback);
// Whole numbers only.
std::optional<int64_t> IntegerOf(const Json& value);
std::optional<int64_t> IntegerField(const Json& object, std::string_view key);
// Finite numbers.
std::optional<double> NumberField(const Json& object, std::string_view key);
bool BoolOr(const Json& object, std::string_view key, bool fallback);
// The strings of an array; other members of it are left out.
std::vector<std::string> StringsField(const Json& object, std::string_view key);
// The member whatever its type is, or null.
const Json& Field(const Json& object, std::string_view key);

// One line of JSON. Never throws: invalid UTF-8 becomes U+FFFD.
std::string ToLine(const Json& value);

// Nothing (a discarded value) if `text` is not JSON. Never throws.
Json ParseJson(std::string_view text);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HOST_JSON_FIELDS_H_
