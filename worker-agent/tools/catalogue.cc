#include "worker-agent/tools/catalogue.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace intercom {
namespace {

Json ToJson(const Tool& tool) {
  return {{"name", tool.name},
          {"label", tool.label},
          {"description", tool.description},
          {"promptSnippet", tool.prompt_snippet},
          {"promptGuidelines", tool.prompt_guidelines},
          {"parameters", tool.parameters},
          {"effect", tool.effect}};
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
  static const auto* const kTools =
      new std::vector<Tool>{IntercomTool(),       ContactSupervisorTool(),
                            CreateWorkerTool(),   ConfigureWorkerTool(),
                            ReloadWorkerTool(),   SendTool(),
                            ListTool(),           WorkerStatusTool(),
                            RequestStatusTool(),  ReportStatusTool(),
                            ReportWorkTool(),     StopWorkerTool(),
                            CloseWorkerTool(),    ReportHandoffTool(),
                            ResumeWorkerTool(),   RemoveWorkerTool(),
                            SetMultiplexerTool(), RegisterTool(),
                            WatchTool()};
  return *kTools;
}

const Tool* FindTool(std::string_view name) {
  for (const Tool& tool : AllTools()) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

Json ToolsFor(const std::vector<std::string>& operations, bool has_supervisor,
              bool may_run_programs) {
  Json tools = Json::array();
  for (const Tool& tool : AllTools()) {
    if (tool.needs_supervisor && !has_supervisor) continue;
    if (tool.needs_programs && !may_run_programs) continue;
    if (tool.operation.empty() ||
        std::find(operations.begin(), operations.end(), tool.operation) !=
            operations.end()) {
      tools.push_back(ToJson(tool));
    }
  }
  return tools;
}

}  // namespace intercom
