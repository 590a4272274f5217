#include "worker-agent/tools/tool_result.h"

#include <algorithm>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "broker/domain/permissions.h"
#include "broker/domain/report.h"
#include "worker-agent/host/rpc_error.h"
#include "worker-agent/tools/bounded_text.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/text_table.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

std::string RecipientOf(const v1::DeliveryRecord& record) {
  return NameOr(record.recipient_name(), record.recipient_session_id());
}

// "loaded", or what is missing; empty for sessions without an entry, and for
// those that are away and so have nothing loaded.
std::string LoadedLabel(const v1::RosterEntry& entry) {
  if (entry.description().empty() ||
      entry.presence() != v1::PRESENCE_ATTACHED) {
    return "";
  }
  if (entry.responsibility_outdated()) return "outdated";
  return entry.responsibility_loaded() ? "loaded" : "not loaded";
}

// The latest report, unless it was taken back.
std::string ReportCell(const v1::RosterEntry& entry) {
  if (!entry.has_report() ||
      entry.report().status() == v1::Report::STATUS_CLEAR) {
    return "";
  }
  return std::string(ReportStatusName(entry.report().status()));
}

// "close awaiting_handoff 3f2c9a10".
std::string JobCell(const v1::RosterEntry& entry) {
  if (!entry.has_job()) return "";
  return std::string(JobKindName(entry.job().kind())) + " " +
         std::string(JobStateLabel(entry.job())) + " " +
         ShortId(entry.job().job_id());
}

std::string EntrySentence(const v1::RosterEntry& entry) {
  std::string text = NameOr(entry.name(), entry.session_id()) + " is " +
                     std::string(PresenceLabel(entry.presence()));
  if (!entry.activity().label().empty() || entry.activity().phase() != 0) {
    text += ", " + ActivityLabel(entry.activity());
  }
  if (const std::string loaded = LoadedLabel(entry); !loaded.empty()) {
    text += ", responsibility " + loaded;
  }
  if (const std::string report = ReportCell(entry); !report.empty()) {
    text += ", reports " + report;
    if (entry.report().overdue()) text += " (unanswered for too long)";
  }
  if (const std::string job = JobCell(entry); !job.empty()) {
    text += ", job: " + job;
  }
  if (entry.waiting() > 0) {
    text += ", " + std::to_string(entry.waiting()) + " waiting";
  }
  return text + ".";
}

}  // namespace

Json ToolResult::ToJson() const {
  Json json = {{"text", delivery_id.empty() && !is_whole
                            ? BoundText(text,
                                        "the rest is shown by the command "
                                        "line: intercom list, or intercom "
                                        "history")
                            : text},
               {"summary", summary},
               {"isError", is_error}};
  if (!code.empty()) json["code"] = code;
  if (!reason.empty()) json["reason"] = reason;
  if (!details.is_null()) json["details"] = details;
  if (!delivery_id.empty()) json["deliveryId"] = delivery_id;
  if (!ids.empty()) json["ids"] = ids;
  if (usage.has_value()) json["usage"] = UsageJson(*usage);
  return json;
}

Json UsageJson(const v1::Usage& usage) {
  return {{"input", usage.input_tokens()},
          {"output", usage.output_tokens()},
          {"cacheRead", usage.cache_read_tokens()},
          {"cacheWrite", usage.cache_write_tokens()},
          {"cost", usage.cost()}};
}

v1::Usage UsageOf(const Json& given) {
  const auto count = [&given](const char* key) {
    return std::max<int64_t>(IntegerField(given, key).value_or(0), 0);
  };
  v1::Usage usage;
  usage.set_input_tokens(count("input"));
  usage.set_output_tokens(count("output"));
  usage.set_cache_read_tokens(count("cacheRead"));
  usage.set_cache_write_tokens(count("cacheWrite"));
  usage.set_cost(std::max(NumberField(given, "cost").value_or(0), 0.0));
  return usage;
}

void AddOpenedRun(const v1::DeliveryRecord& record, ToolResult& result) {
  if (record.run_id().empty()) return;
  result.text += "It opened " + IdLabel(record.run_id(), 40) +
                 ": its end is announced to you by itself, and intercom "
                 "follows it (peek, wait, steer, stop, result).\n";
  result.summary += " · " + IdLabel(record.run_id(), 40);
  result.details["runId"] = record.run_id();
}

ToolResult RenderError(const absl::Status& status) {
  const std::string message = StripControls(MessageOf(status));
  return {.text = message,
          .summary = SafeLabel(message, 120),
          .is_error = true,
          .code = std::string(CodeName(status.code())),
          .reason = ReasonOf(status),
          .details = nullptr};
}

ToolResult RenderSubmitted(const v1::DeliveryRecord& record) {
  const std::string& id = record.envelope().envelope_id();
  const std::string to = RecipientOf(record);
  std::string state(StateLabel(record.state()));
  ToolResult result;
  result.text = "Message to " + to + ": " + state + ", id " + id + ".\n";
  if (record.end() != v1::DELIVERY_END_UNSPECIFIED) {
    state = EndLabel(record.end());
    result.text += "It ended: " + state + ".\n";
  } else if (record.wait_reason() != v1::WAIT_REASON_UNSPECIFIED) {
    const std::string wait =
        WaitSentence(record.wait_reason(), record.recipient_name().empty()
                                               ? record.recipient_session_id()
                                               : record.recipient_name());
    result.text += wait + ".\n";
    state += ", " + wait.substr(0, wait.find(';'));
  }
  result.summary = "→ " + to + " · " + state;
  result.details = {{"envelopeId", id},
                    {"deliveryId", record.delivery_id()},
                    {"recipient", record.recipient_session_id()},
                    {"state", StateLabel(record.state())}};
  AddOpenedRun(record, result);
  return result;
}

std::string RosterTable(
    const google::protobuf::RepeatedPtrField<v1::RosterEntry>& entries) {
  TextTable table({"NAME", "ROLE", "PRESENCE", "ACTIVITY", "RESPONSIBILITY",
                   "REPORT", "OVERDUE", "JOB", "WAITING", "DIRECTORY",
                   "SESSION", "DESCRIPTION"});
  for (const v1::RosterEntry& entry : entries) {
    table.AddRow({entry.name().empty() ? "–" : NameLabel(entry.name(), 40),
                  std::string(RoleName(entry.role())),
                  std::string(PresenceLabel(entry.presence())),
                  ActivityLabel(entry.activity()), LoadedLabel(entry),
                  ReportCell(entry), entry.report().overdue() ? "yes" : "",
                  JobCell(entry),
                  entry.waiting() > 0 ? std::to_string(entry.waiting()) : "",
                  SafeLabel(entry.project_directory().empty()
                                ? std::string_view(".")
                                : std::string_view(entry.project_directory()),
                            120),
                  IdLabel(entry.session_id(), 256),
                  entry.description().empty()
                      ? ""
                      : CutToWidth(SafeLabel(entry.description(), 200), 60)});
  }
  return table.ToString();
}

ToolResult RenderWorkspace(const v1::GetWorkspaceResponse& response) {
  ToolResult result;
  result.text = "Workspace " + SafeLabel(response.root(), 4096) + "\n";
  const bool is_flawed = !response.config_error().empty();
  const std::string error = SafeLabel(response.config_error(), 1000);
  if (response.stale()) {
    result.text +=
        "The config is invalid now, so this is the last good state: " + error +
        "\n";
  } else if (is_flawed) {
    result.text += "Notice: " + error + "\n";
  }
  result.text += RosterTable(response.entries());
  int attached = 0;
  for (const v1::RosterEntry& entry : response.entries()) {
    if (entry.presence() == v1::PRESENCE_ATTACHED) ++attached;
  }
  result.summary = std::to_string(response.entries_size()) + " sessions, " +
                   std::to_string(attached) + " attached" +
                   (response.stale() ? ", config invalid"
                    : is_flawed      ? ", config needs a person"
                                     : "");
  return result;
}

ToolResult RenderRequestedStatus(const v1::RequestStatusResponse& response) {
  ToolResult result;
  result.text = EntrySentence(response.entry()) + "\n";
  result.text += response.report_requested()
                     ? "Its own report is added to this session without "
                       "starting a turn; don't wait for it.\n"
                     : "It was not asked for a report of its own.\n";
  result.summary = SafeLabel(EntrySentence(response.entry()), 120);
  return result;
}

ToolResult RenderReportedStatus(const v1::ReportStatusResponse& response) {
  ToolResult result;
  result.summary =
      response.reported() ? "status reported" : "status not reported";
  result.text =
      response.reported() ? "Reported to the coordinator: " : "Not reported: ";
  if (!response.reported()) {
    result.text += SafeLabel(response.note(), 512) + " Known here: ";
  }
  result.text += "session " + IdLabel(response.status().session_id(), 256) +
                 ", " + (response.status().busy() ? "busy" : "not busy") +
                 ", port " + std::to_string(response.status().port()) + ".\n";
  return result;
}

ToolResult RenderReportedWork(const v1::ReportWorkResponse& response) {
  const bool clear = response.report().status() == v1::Report::STATUS_CLEAR;
  const std::string status(ReportStatusName(response.report().status()));
  ToolResult result;
  result.text = clear ? "Your last report is taken back"
                      : "Your report is saved: " + status;
  if (response.notified()) {
    result.text += clear ? ".\n" : "; the coordinator is told.\n";
  } else {
    result.text += ", but the coordinator was not told: " +
                   SafeLabel(response.note(), 512) +
                   " It shows in every list; don't repeat it.\n";
  }
  if (!clear) {
    result.text +=
        "End your turn and wait: the answer arrives as a message. A report "
        "approves nothing.\n";
  }
  result.summary = clear ? "report cleared" : "reported " + status;
  if (!response.notified()) result.summary += ", coordinator not told";
  result.details = {{"status", status}, {"notified", response.notified()}};
  return result;
}

}  // namespace intercom
