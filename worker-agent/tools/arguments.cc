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

absl::Status Invalid(const std::string& text) {
  return Error(absl::StatusCode::kInvalidArgument, "ARGUMENT_INVALID", text);
}

// "1 to 5", "at most 5", "at least 1".
std::string Range(std::optional<int64_t> min, std::optional<int64_t> max) {
  if (!min.has_value()) return "at most " + std::to_string(max.value_or(0));
  if (!max.has_value()) return "at least " + std::to_string(*min);
  return std::to_string(*min) + " to " + std::to_string(*max);
}

bool IsWithin(int64_t number, std::optional<int64_t> min,
              std::optional<int64_t> max) {
  return number >= min.value_or(INT64_MIN) && number <= max.value_or(INT64_MAX);
}

absl::Status CheckText(const std::string& path, const Json& schema,
                       const Json& value) {
  if (!value.is_string()) return Invalid(path + " must be a string");
  const auto count = CountCharacters(value.get_ref<const std::string&>());
  if (!count.has_value()) return Invalid(path + " is not UTF-8");
  const auto min = IntegerField(schema, "minLength");
  const auto max = IntegerField(schema, "maxLength");
  const auto characters = static_cast<int64_t>(*count);
  if (IsWithin(characters, min, max)) return absl::OkStatus();
  return Invalid(path + " has " + std::to_string(characters) +
                 " characters; it may have " + Range(min, max));
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

absl::Status CheckChoice(const std::string& path, const Json& schema,
                         const Json& value) {
  const std::vector<std::string> words = StringsField(schema, "enum");
  if (value.is_string() &&
      std::find(words.begin(), words.end(),
                value.get_ref<const std::string&>()) != words.end()) {
    return absl::OkStatus();
  }
  return Invalid(path + " must be " + Listed(words));
}

absl::Status CheckFlag(const std::string& path, const Json& schema,
                       const Json& value) {
  const Json& wanted = Field(schema, "const");
  if (!wanted.is_null() && value != wanted) {
    return Invalid(path + " must be " + wanted.dump());
  }
  if (!value.is_boolean()) return Invalid(path + " must be true or false");
  return absl::OkStatus();
}

absl::Status CheckInteger(const std::string& path, const Json& schema,
                          const Json& value) {
  const std::optional<int64_t> number = IntegerOf(value);
  const auto min = IntegerField(schema, "minimum");
  const auto max = IntegerField(schema, "maximum");
  if (number.has_value() && IsWithin(*number, min, max)) {
    return absl::OkStatus();
  }
  return Invalid(path + " must be a whole number, " + Range(min, max));
}

absl::Status CheckValue(const std::string& path, const Json& schema,
                        const Json& value);

absl::Status CheckArray(const std::string& path, const Json& schema,
                        const Json& value) {
  if (!value.is_array()) return Invalid(path + " must be an array");
  const auto min = IntegerField(schema, "minItems");
  const auto max = IntegerField(schema, "maxItems");
  if (!IsWithin(static_cast<int64_t>(value.size()), min, max)) {
    return Invalid(path + " has " + std::to_string(value.size()) +
                   " entries; it may have " + Range(min, max));
  }
  for (size_t i = 0; i < value.size(); ++i) {
    INTERCOM_RETURN_IF_ERROR(CheckValue(path + "[" + std::to_string(i) + "]",
                                        Field(schema, "items"), value[i]));
  }
  return absl::OkStatus();
}

absl::Status Unknown(std::string path, const std::string& key,
                     const Json& properties) {
  if (path.ends_with('.')) {
    path.back() = ' ';
    path += "has";
  } else {
    path += "there is";
  }
  std::vector<std::string> known;
  for (const auto& [name, unused] : properties.items()) known.push_back(name);
  return Invalid(path + " no argument " + SafeLabel(key) +
                 (known.empty() ? "" : "; it takes " + Listed(known)));
}

// `path` stands before a member's name: "tool: ", or "tool: list[0].".
absl::Status CheckMembers(const std::string& path, const Json& schema,
                          const Json& value) {
  const Json& properties = Field(schema, "properties");
  for (const std::string& key : StringsField(schema, "required")) {
    if (!value.contains(key)) return Invalid(path + key + " is missing");
  }
  for (const auto& [key, member] : value.items()) {
    const Json& expected = Field(properties, key);
    if (expected.is_null()) return Unknown(path, key, properties);
    INTERCOM_RETURN_IF_ERROR(CheckValue(path + key, expected, member));
  }
  return absl::OkStatus();
}

absl::Status CheckValue(const std::string& path, const Json& schema,
                        const Json& value) {
  const std::string type = StringOr(schema, "type", "");
  if (type == "integer") return CheckInteger(path, schema, value);
  if (type == "boolean") return CheckFlag(path, schema, value);
  if (type == "array") return CheckArray(path, schema, value);
  if (type == "object") {
    if (!value.is_object()) return Invalid(path + " must be an object");
    return CheckMembers(path + ".", schema, value);
  }
  if (schema.contains("enum")) return CheckChoice(path, schema, value);
  return CheckText(path, schema, value);
}

}  // namespace

absl::Status CheckArguments(const Tool& tool, const Json& arguments) {
  if (!arguments.is_object()) {
    return Invalid(tool.name + ": the arguments must be an object");
  }
  return CheckMembers(tool.name + ": ", tool.parameters, arguments);
}

}  // namespace intercom
