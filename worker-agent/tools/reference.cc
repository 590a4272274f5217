#include "worker-agent/tools/reference.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "broker/domain/permissions.h"
#include "worker-agent/tools/catalogue.h"

namespace intercom {
namespace {

std::string ArgumentsOf(const Tool& tool) {
  const std::vector<std::string> required = tool.parameters["required"];
  std::string text;
  const auto add = [&](const std::string& name, bool is_required) {
    if (!text.empty()) text += ", ";
    text += "`" + name + (is_required ? "`" : "?`");
  };
  for (const std::string& name : required) add(name, true);
  for (const auto& [name, schema] : tool.parameters["properties"].items()) {
    if (std::find(required.begin(), required.end(), name) == required.end()) {
      add(name, false);
    }
  }
  return text.empty() ? "–" : text;
}

std::string CallersOf(const Tool& tool) {
  switch (tool.need) {
    case ToolNeed::kSupervisor:
      return "a session that another one delegated to";
    case ToolNeed::kFellows:
      return "worker of a run, headless worker";
    case ToolNeed::kPrograms:
      return "a session that may run programs";
    case ToolNeed::kNothing:
      break;
  }
  std::string text;
  for (const v1::Role role : {v1::ROLE_COORDINATOR, v1::ROLE_WORKER,
                              v1::ROLE_ANONYMOUS, v1::ROLE_PEER}) {
    const std::vector<std::string> operations = PermittedOperations(role);
    if (std::find(operations.begin(), operations.end(), tool.operation) ==
        operations.end()) {
      continue;
    }
    if (!text.empty()) text += ", ";
    text += RoleName(role);
  }
  return text;
}

}  // namespace

std::string ToolReference() {
  std::string table =
      "| tool | arguments | who | what it does |\n|---|---|---|---|\n";
  for (const Tool& tool : AllTools()) {
    table += "| `" + tool.name + "` | " + ArgumentsOf(tool) + " | " +
             CallersOf(tool) + " | " + tool.description + " |\n";
  }
  return table;
}

}  // namespace intercom
