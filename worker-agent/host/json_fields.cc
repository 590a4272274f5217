#include "worker-agent/host/json_fields.h"

#include <cmath>
#include <limits>

namespace intercom {

const Json& Field(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::optional<std::string> StringField(const Json& object,
                                       std::string_view key) {
  const Json& value = Field(object, key);
  if (!value.is_string()) return std::nullopt;
  return value.get_ref<const std::string&>();
}

std::string StringOr(const Json& object, std::string_view key,
                     std::string_view fallback) {
  return StringField(object, key).value_or(std::string(fallback));
}

std::optional<int64_t> IntegerOf(const Json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    if (number > uint64_t{std::numeric_limits<int64_t>::max()}) {
      return std::nullopt;
    }
    return static_cast<int64_t>(number);
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    // JavaScript writes large whole numbers with an exponent.
    const double number = value.get<double>();
    if (std::trunc(number) == number && std::abs(number) < 9.0e15) {
      return static_cast<int64_t>(number);
    }
  }
  return std::nullopt;
}

std::optional<int64_t> IntegerField(const Json& object, std::string_view key) {
  return IntegerOf(Field(object, key));
}

std::optional<double> NumberField(const Json& object, std::string_view key) {
  const Json& value = Field(object, key);
  if (!value.is_number()) return std::nullopt;
  const double number = value.get<double>();
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

bool BoolOr(const Json& object, std::string_view key, bool fallback) {
  const Json& value = Field(object, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

std::vector<std::string> StringsField(const Json& object,
                                      std::string_view key) {
  std::vector<std::string> strings;
  const Json& value = Field(object, key);
  if (!value.is_array()) return strings;
  for (const Json& member : value) {
    if (member.is_string()) {
      strings.push_back(member.get_ref<const std::string&>());
    }
  }
  return strings;
}

std::string ToLine(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ParseJson(std::string_view text) {
  return Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
}

}  // namespace intercom
