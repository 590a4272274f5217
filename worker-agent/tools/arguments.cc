#include <cstdint>
#include <optional>
#include <string>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/tools/catalogue.h"

namespace intercom {
namespace {

absl::Status Invalid(const Tool& tool, const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID",
               tool.name + ": " + text);
}

absl::Status CheckText(const Tool& tool, const std::string& key,
                       const Json& schema, const Json& value) {
  if (!value.is_string()) return Invalid(tool, key + " must be a string");
  const auto count = CountCharacters(value.get_ref<const std::string&>());
  if (!count.has_value()) return Invalid(tool, key + " is not UTF-8");
  const auto characters = static_cast<int64_t>(*count);
  const int64_t min = IntegerField(schema, "minLength").value_or(0);
  const int64_t max = IntegerField(schema, "maxLength").value_or(INT64_MAX);
  if (characters >= min && characters <= max) return absl::OkStatus();
  return Invalid(tool, key + " has " + std::to_string(characters) +
                           " characters; it may have " + std::to_string(min) +
                           " to " + std::to_string(max));
}

absl::Status CheckInteger(const Tool& tool, const std::string& key,
                          const Json& schema, const Json& arguments) {
  const std::optional<int64_t> number = IntegerField(arguments, key);
  const int64_t min = IntegerField(schema, "minimum").value_or(INT64_MIN);
  const int64_t max = IntegerField(schema, "maximum").value_or(INT64_MAX);
  if (number.has_value() && *number >= min && *number <= max) {
    return absl::OkStatus();
  }
  return Invalid(tool, key + " must be a whole number from " +
                           std::to_string(min) + " to " + std::to_string(max));
}

}  // namespace

absl::Status CheckArguments(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) {
    return Invalid(tool, "the arguments must be an object");
  }
  const Json& properties = Field(tool.parameters, "properties");
  for (const std::string& key : StringsField(tool.parameters, "required")) {
    if (!arguments.contains(key)) return Invalid(tool, key + " is missing");
  }
  for (const auto& [key, value] : arguments.items()) {
    const Json& schema = Field(properties, key);
    if (schema.is_null()) {
      return Invalid(tool, "there is no argument " + SafeLabel(key));
    }
    if (StringOr(schema, "type", "") == "integer") {
      INTERCOM_RETURN_IF_ERROR(CheckInteger(tool, key, schema, arguments));
    } else {
      INTERCOM_RETURN_IF_ERROR(CheckText(tool, key, schema, value));
    }
  }
  return absl::OkStatus();
}

}  // namespace intercom
