#include "worker-agent/tools/catalogue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace intercom {
namespace {

Json ToJson(const Tool& tool) {
  Json json = {{"name", tool.name},
               {"label", tool.label},
               {"description", tool.description},
               {"promptSnippet", tool.prompt_snippet},
               {"promptGuidelines", tool.prompt_guidelines},
               {"parameters", tool.parameters},
               {"effect", tool.effect}};
  if (tool.host) json["host"] = true;
  return json;
}

bool Has(const ToolUser& user, ToolNeed need) {
  switch (need) {
    case ToolNeed::kSupervisor:
      return user.has_supervisor;
    case ToolNeed::kFellows:
      return user.has_fellows;
    case ToolNeed::kPrograms:
      return user.may_run_programs;
    case ToolNeed::kNothing:
      return true;
  }
  return true;
}

// Every tool, for who supervises and for who does not.
std::vector<Tool> MakeTools(bool supervises) {
  return {IntercomTool(supervises),
          ContactSupervisorTool(),
          ContactPeerTool(),
          CreateWorkerTool(),
          ConfigureWorkerTool(),
          ReloadWorkerTool(),
          SendTool(supervises),
          ListTool(),
          WorkerStatusTool(),
          RequestStatusTool(),
          ReportStatusTool(),
          ReportWorkTool(),
          StopWorkerTool(),
          CloseWorkerTool(),
          ReportHandoffTool(),
          ResumeWorkerTool(),
          RemoveWorkerTool(),
          SetMultiplexerTool(),
          RegisterTool(),
          WatchTool(),
          ModelsTool()};
}

}  // namespace

Json TextSchema(std::string_view description, int min, int max) {
  return {{"type", "string"},
          {"description", description},
          {"minLength", min},
          {"maxLength", max}};
}

Json NumberSchema(std::string_view description, int min, int max) {
  return {{"type", "integer"},
          {"description", description},
          {"minimum", min},
          {"maximum", max}};
}

Json ChoiceSchema(std::string_view description,
                  std::vector<std::string> words) {
  return {{"type", "string"},
          {"description", description},
          {"enum", std::move(words)}};
}

Json FlagSchema(std::string_view description) {
  return {{"type", "boolean"}, {"description", description}};
}

Json ConfirmationSchema(std::string_view description) {
  return {{"type", "boolean"}, {"description", description}, {"const", true}};
}

Json ArraySchema(std::string_view description, int min, int max, Json items) {
  return {{"type", "array"},
          {"description", description},
          {"minItems", min},
          {"maxItems", max},
          {"items", std::move(items)}};
}

Json ObjectSchema(Json properties, std::vector<std::string> required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

const std::vector<Tool>& AllTools() {
  static const auto* const kTools = new std::vector<Tool>(MakeTools(true));
  return *kTools;
}

const Tool* FindTool(std::string_view name) {
  for (const Tool& tool : AllTools()) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

Json ToolsFor(const ToolUser& user) {
  static const auto* const kPlain = new std::vector<Tool>(MakeTools(false));
  Json tools = Json::array();
  for (const Tool& tool : user.supervises ? AllTools() : *kPlain) {
    if (!Has(user, tool.need)) continue;
    if (tool.operation.empty() ||
        std::find(user.operations.begin(), user.operations.end(),
                  tool.operation) != user.operations.end()) {
      tools.push_back(ToJson(tool));
    }
  }
  return tools;
}

}  // namespace intercom
