#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_TOOL_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_TOOL_H_

#include <string>
#include <string_view>
#include <vector>

#include "worker-agent/host/json_fields.h"

namespace intercom {

// What only some sessions have, whatever their role.
enum class ToolNeed {
  kNothing,
  // Somebody delegated to the session what it works on: another program that
  // started it as its child, or the supervisor of a run or a headless worker.
  kSupervisor,
  // It works beside others for one supervisor.
  kFellows,
  // It may run programs.
  kPrograms,
};

// A tool for a host's model. Defined once, here: what a host registers and what
// the documentation lists comes from it.
struct Tool {
  std::string name;
  std::string label;
  std::string description;
  // One line for a system prompt's list of tools.
  std::string prompt_snippet;
  std::vector<std::string> prompt_guidelines;
  // JSON Schema of the arguments: an object of strings, integers, booleans,
  // arrays and objects of the like.
  Json parameters;
  // The name in the permission table that a session needs; empty for none.
  std::string operation;
  // What a call changes: "nothing", "config" (the file itself, perhaps more),
  // "worker", "mail" or "programs" (it starts and ends some).
  std::string effect;
  // What a session has beside the operation.
  ToolNeed need = ToolNeed::kNothing;
  // Whether the host answers its calls by itself.
  bool host = false;
};

// The tools, by what they are about; AllTools() puts them in order.
Tool CreateWorkerTool();
Tool ConfigureWorkerTool();
Tool ReloadWorkerTool();
Tool StopWorkerTool();
Tool CloseWorkerTool();
Tool ResumeWorkerTool();
Tool RemoveWorkerTool();
Tool SetMultiplexerTool();

// `supervises`: with what opens runs.
Tool SendTool(bool supervises);
Tool ListTool();
Tool WorkerStatusTool();
Tool RequestStatusTool();
Tool ReportStatusTool();
Tool ReportWorkTool();
Tool ReportHandoffTool();
Tool RegisterTool();

// `supervises`: with the actions that follow runs.
Tool IntercomTool(bool supervises);
Tool ContactSupervisorTool();
Tool ContactPeerTool();
Tool WatchTool();
Tool ModelsTool();

// Parts of a schema.
Json TextSchema(std::string_view description, int min, int max);
Json NumberSchema(std::string_view description, int min, int max);
// One of these words.
Json ChoiceSchema(std::string_view description, std::vector<std::string> words);
Json FlagSchema(std::string_view description);
// Only true, so that it has to be said.
Json ConfirmationSchema(std::string_view description);
// `min` to `max` values that keep `items`.
Json ArraySchema(std::string_view description, int min, int max, Json items);
Json ObjectSchema(Json properties, std::vector<std::string> required);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_TOOL_H_
