#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_TOOL_RESULT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_TOOL_RESULT_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "intercom/v1/envelope.pb.h"
#include "intercom/v1/run.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// What a tool call answers: text for the model and one line for a person.
struct ToolResult {
  std::string text;
  std::string summary;
  bool is_error = false;
  // The gRPC name and the stable reason of an error.
  std::string code;
  std::string reason;
  // For a program; null if there is none.
  Json details;
  // The delivery that this text is; empty for none.
  std::string delivery_id = {};
  // What a bulletin would tell otherwise.
  std::vector<std::string> ids = {};
  // What the call is to be charged with.
  std::optional<v1::Usage> usage = {};
  // Whether its text is bounded by what it tells.
  bool is_whole = false;

  // As `tools/call` answers it. The text is bounded here, unless it is whole or
  // that of a delivery, which nobody would see in full elsewhere.
  Json ToJson() const;
};

ToolResult RenderError(const absl::Status& status);

// As the host link carries it.
Json UsageJson(const v1::Usage& usage);
v1::Usage UsageOf(const Json& usage);

// What follows from an accepted envelope that opened a run: a sentence for the
// model, and its id for a program. Nothing for others.
void AddOpenedRun(const v1::DeliveryRecord& record, ToolResult& result);

ToolResult RenderSubmitted(const v1::DeliveryRecord& record);
ToolResult RenderWorkspace(const v1::GetWorkspaceResponse& response);
ToolResult RenderRequestedStatus(const v1::RequestStatusResponse& response);
ToolResult RenderReportedStatus(const v1::ReportStatusResponse& response);
ToolResult RenderReportedWork(const v1::ReportWorkResponse& response);

// The roster as a table, for tools and the command line alike. Columns without
// any content are left out.
std::string RosterTable(
    const google::protobuf::RepeatedPtrField<v1::RosterEntry>& entries);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_TOOL_RESULT_H_
