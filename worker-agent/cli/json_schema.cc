#include "worker-agent/cli/json_schema.h"

#include <cstdint>
#include <limits>
#include <string_view>

#include "google/protobuf/descriptor.h"
#include "nlohmann/json.hpp"

namespace intercom {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
// Keeps the order of the fields.
using Json = nlohmann::ordered_json;

constexpr char kDialect[] = "https://json-schema.org/draft/2020-12/schema";
constexpr char kDuration[] = R"(^-?[0-9]+(\.[0-9]{1,9})?s$)";
constexpr char kBase64[] = "^[A-Za-z0-9+/]*={0,2}$";

Json Matching(std::string_view pattern) {
  return {{"type", "string"}, {"pattern", pattern}};
}

template <typename Number>
Json Integer() {
  return {{"type", "integer"},
          {"minimum", std::numeric_limits<Number>::min()},
          {"maximum", std::numeric_limits<Number>::max()}};
}

class Definitions {
 public:
  // What stands for a message: a reference to its definition, which is made if
  // need be, or the form that JSON gives a well-known one.
  Json Of(const Descriptor& message) {
    const std::string& name = message.full_name();
    if (name == "google.protobuf.Timestamp") {
      return {{"type", "string"}, {"format", "date-time"}};
    }
    if (name == "google.protobuf.Duration") return Matching(kDuration);
    if (!all_.contains(name)) {
      all_[name] = nullptr;  // It may hold itself.
      Json properties = Json::object();
      for (int i = 0; i < message.field_count(); ++i) {
        const FieldDescriptor& field = *message.field(i);
        properties[field.json_name()] = OfField(field);
      }
      all_[name] = {{"type", "object"},
                    {"properties", properties},
                    {"additionalProperties", false}};
    }
    return {{"$ref", "#/$defs/" + name}};
  }

  const Json& all() const { return all_; }

 private:
  Json OfField(const FieldDescriptor& field) {
    if (field.is_map()) {
      return {{"type", "object"},
              {"additionalProperties",
               OfValue(*field.message_type()->map_value())}};
    }
    if (field.is_repeated()) {
      return {{"type", "array"}, {"items", OfValue(field)}};
    }
    return OfValue(field);
  }

  Json OfEnum(const EnumDescriptor& type) {
    const std::string& name = type.full_name();
    if (!all_.contains(name)) {
      Json names = Json::array();
      for (int i = 0; i < type.value_count(); ++i) {
        names.push_back(type.value(i)->name());
      }
      all_[name] = {{"type", "string"}, {"enum", names}};
    }
    return {{"$ref", "#/$defs/" + name}};
  }

  Json OfValue(const FieldDescriptor& field) {
    switch (field.cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return Integer<int32_t>();
      case FieldDescriptor::CPPTYPE_UINT32:
        return Integer<uint32_t>();
      case FieldDescriptor::CPPTYPE_INT64:
        return Matching("^-?[0-9]+$");
      case FieldDescriptor::CPPTYPE_UINT64:
        return Matching("^[0-9]+$");
      case FieldDescriptor::CPPTYPE_DOUBLE:
      case FieldDescriptor::CPPTYPE_FLOAT:
        return {{"anyOf",
                 {{{"type", "number"}},
                  {{"enum", {"NaN", "Infinity", "-Infinity"}}}}}};
      case FieldDescriptor::CPPTYPE_BOOL:
        return {{"type", "boolean"}};
      case FieldDescriptor::CPPTYPE_ENUM:
        return OfEnum(*field.enum_type());
      case FieldDescriptor::CPPTYPE_STRING:
        if (field.type() != FieldDescriptor::TYPE_BYTES) {
          return {{"type", "string"}};
        }
        return {{"type", "string"},
                {"contentEncoding", "base64"},
                {"pattern", kBase64}};
      case FieldDescriptor::CPPTYPE_MESSAGE:
        return Of(*field.message_type());
    }
    return true;  // Anything.
  }

  // By full name, in the order in which they are met.
  Json all_ = Json::object();
};

}  // namespace

std::string JsonSchemaOf(const CommandSpec& command) {
  Definitions definitions;
  Json schema = {{"$schema", kDialect},
                 {"title", "intercom " + command.name + " --json"}};
  const Json usual = definitions.Of(*command.output);
  if (command.other_output == nullptr) {
    schema.update(usual);
  } else {
    Json other = definitions.Of(*command.other_output);
    other["description"] = command.other_when;
    schema["anyOf"] = {usual, other};
  }
  if (!definitions.all().empty()) schema["$defs"] = definitions.all();
  return schema.dump(2) + "\n";
}

}  // namespace intercom
