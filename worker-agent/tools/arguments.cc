#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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

// "herdr, tmux or none".
std::string Listed(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

absl::Status CheckChoice(const Tool& tool, const std::string& key,
                         const Json& schema, const Json& value) {
  const std::vector<std::string> words = StringsField(schema, "enum");
  if (value.is_string() &&
      std::find(words.begin(), words.end(),
                value.get_ref<const std::string&>()) != words.end()) {
    return absl::OkStatus();
  }
  return Invalid(tool, key + " must be " + Listed(words));
}

absl::Status CheckFlag(const Tool& tool, const std::string& key,
                       const Json& schema, const Json& value) {
  const Json& wanted = Field(schema, "const");
  if (!wanted.is_null() && value != wanted) {
    return Invalid(tool, key + " must be " + wanted.dump());
  }
  if (!value.is_boolean()) return Invalid(tool, key + " must be true or false");
  return absl::OkStatus();
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
    const std::string type = StringOr(schema, "type", "");
    if (type == "integer") {
      INTERCOM_RETURN_IF_ERROR(CheckInteger(tool, key, schema, arguments));
    } else if (type == "boolean") {
      INTERCOM_RETURN_IF_ERROR(CheckFlag(tool, key, schema, value));
    } else if (schema.contains("enum")) {
      INTERCOM_RETURN_IF_ERROR(CheckChoice(tool, key, schema, value));
    } else {
      INTERCOM_RETURN_IF_ERROR(CheckText(tool, key, schema, value));
    }
  }
  return absl::OkStatus();
}

}  // namespace intercom
