#include "worker-agent/tools/catalogue.h"

#include <algorithm>

namespace intercom {
namespace {

Json Text(std::string_view description, int min, int max) {
  return {{"type", "string"},
          {"description", description},
          {"minLength", min},
          {"maxLength", max}};
}

Json Object(Json properties, std::vector<std::string> required) {
  return {{"type", "object"},
          {"properties", std::move(properties)},
          {"required", std::move(required)},
          {"additionalProperties", false}};
}

Tool ConfigureWorker() {
  return {
      .name = "intercom_configure_worker",
      .label = "Configure worker",
      .description =
          "Write one worker's entry into the workspace's config: its name and "
          "responsibility, for the session id that its registration named. "
          "Writes only that entry and tells nobody: call "
          "intercom_reload_worker afterwards so that the worker takes it on. "
          "Repeating it is harmless.",
      .prompt_snippet = "Give a registered session a name and a responsibility",
      .prompt_guidelines =
          {"After intercom_configure_worker call intercom_reload_worker, then "
           "send the first assignment with intercom_send."},
      .parameters = Object(
          {{"sessionId", Text("The session id from the registration or from "
                              "intercom_list.",
                              1, 256)},
           {"name", Text("Name to address it by, unique in the workspace; not "
                         "Coordinator.",
                         1, 128)},
           {"description",
            Text("Its lasting responsibility. Not an assignment: send those.",
                 1, 4096)},
           {"projectDirectory",
            Text("Directory relative to the workspace root. Default: the root.",
                 1, 4096)},
           {"port",
            {{"type", "integer"},
             {"description", "Port to record. Leave out for the broker's."},
             {"minimum", 1},
             {"maximum", 65535}}}},
          {"sessionId", "name", "description"}),
      .operation = "worker.configure",
      .effect = "config"};
}

Tool ReloadWorker() {
  return {
      .name = "intercom_reload_worker",
      .label = "Reload worker",
      .description =
          "Let an attached worker take its name and responsibility from "
          "the config. Starts no turn there and restarts nothing. OK means "
          "that the worker's host said that it did.",
      .prompt_snippet =
          "Let a worker load its configured name and responsibility",
      .prompt_guidelines = {},
      .parameters = Object(
          {{"to", Text("The worker's name or session id.", 1, 256)}}, {"to"}),
      .operation = "worker.reload",
      .effect = "worker"};
}

Tool SendMessage() {
  return {
      .name = "intercom_send",
      .label = "Send message",
      .description =
          "Send text to one session of the workspace, by name. One-way: it "
          "returns once the message is on disk, and says whether it waits and "
          "why; an answer comes later as a message of its own. A message to an "
          "absent session is kept and delivered when that session returns, so "
          "don't send it again.",
      .prompt_snippet = "Send a message to another session by name",
      .prompt_guidelines =
          {"Don't wait or poll for an answer after intercom_send: end your "
           "turn, and the answer starts a new one.",
           "A worker sends its results with intercom_send to whoever asked for "
           "them."},
      .parameters = Object(
          {{"to", Text("The recipient's name, Coordinator, or a session id.", 1,
                       256)},
           {"message", Text("The text, complete in itself: the recipient does "
                            "not see your session.",
                            1, 48000)}},
          {"to", "message"}),
      .operation = "message.send",
      .effect = "mail"};
}

Tool List() {
  return {.name = "intercom_list",
          .label = "List sessions",
          .description =
              "List the workspace's sessions: name, role, whether they are "
              "attached, what they are doing, waiting mail, and their "
              "responsibility. Disturbs nobody.",
          .prompt_snippet = "See who is in the workspace and what they do",
          .prompt_guidelines = {},
          .parameters = Object(Json::object(), {}),
          .operation = "roster.list",
          .effect = "nothing"};
}

Tool ReportStatus() {
  return {.name = "intercom_report_status",
          .label = "Report status",
          .description =
              "Tell the coordinator your session id, port and whether you are "
              "busy. A fact, not a result: send results with intercom_send.",
          .prompt_snippet = "Tell the coordinator that you are there",
          .prompt_guidelines = {},
          .parameters = Object(Json::object(), {}),
          .operation = "status.report",
          .effect = "mail"};
}

Tool RequestStatus() {
  return {
      .name = "intercom_request_status",
      .label = "Request status",
      .description =
          "See what one worker is doing, and have its extension report for "
          "itself. Starts no turn there and interrupts nothing.",
      .prompt_snippet = "See what one worker is doing",
      .prompt_guidelines = {},
      .parameters = Object(
          {{"to", Text("The worker's name or session id.", 1, 256)}}, {"to"}),
      .operation = "status.request",
      .effect = "worker"};
}

Json ToJson(const Tool& tool) {
  return {{"name", tool.name},
          {"label", tool.label},
          {"description", tool.description},
          {"promptSnippet", tool.prompt_snippet},
          {"promptGuidelines", tool.prompt_guidelines},
          {"parameters", tool.parameters}};
}

}  // namespace

const std::vector<Tool>& AllTools() {
  static const auto* const kTools = new std::vector<Tool>{
      ConfigureWorker(), ReloadWorker(), SendMessage(), List(),
      ReportStatus(),    RequestStatus()};
  return *kTools;
}

const Tool* FindTool(std::string_view name) {
  for (const Tool& tool : AllTools()) {
    if (tool.name == name) return &tool;
  }
  return nullptr;
}

Json ToolsFor(const std::vector<std::string>& operations) {
  Json tools = Json::array();
  for (const Tool& tool : AllTools()) {
    if (std::find(operations.begin(), operations.end(), tool.operation) !=
        operations.end()) {
      tools.push_back(ToJson(tool));
    }
  }
  return tools;
}

}  // namespace intercom
