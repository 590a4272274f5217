#include "worker-agent/cli/inspect_report.h"

#include <cstdint>
#include <map>

#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/permissions.h"
#include "broker/domain/report.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/text_table.h"

namespace intercom {
namespace {

constexpr size_t kNameColumns = 40;
constexpr size_t kPathCharacters = 4096;

std::string Age(const google::protobuf::Timestamp& time, absl::Time now) {
  return time.seconds() == 0 ? "" : AgeLabel(now - ToTime(time));
}

std::string Count(int64_t count) {
  return count > 0 ? std::to_string(count) : "";
}

// "and 3 more", in a line of its own; empty for none.
std::string LeftOut(int64_t count) {
  return count > 0 ? "and " + std::to_string(count) + " more\n" : "";
}

std::string Name(const v1::RosterEntry& entry) {
  return NameOr(entry.name().empty() ? entry.runtime_name() : entry.name(),
                entry.short_id());
}

std::string IdOf(const std::string& delivery_id) {
  const auto parts = ParseDeliveryId(delivery_id);
  return MessageIdLabel(parts.has_value() ? parts->envelope_id : delivery_id);
}

std::string RunRemark(const v1::Run& run) {
  if (run.stalled()) return "stalled";
  if (run.stop_requested() && IsOpen(run)) return "stop asked for";
  return run.reason().empty() ? "" : NameLabel(run.reason(), kNameColumns);
}

std::string DeliveryState(const v1::DeliverySummary& delivery) {
  return std::string(delivery.end() == v1::DELIVERY_END_UNSPECIFIED
                         ? StateLabel(delivery.state())
                         : EndLabel(delivery.end()));
}

}  // namespace

std::string SessionsReport(const v1::ListSessionsResponse& response) {
  std::map<std::string, std::string> names;
  for (const v1::RosterEntry& entry : response.sessions()) {
    names[entry.session_id()] = Name(entry);
  }
  if (response.has_self()) {
    names[response.self().session_id()] = "this session";
  }
  if (response.sessions().empty()) {
    return response.has_self() ? "No other sessions.\n" : "No sessions.\n";
  }
  TextTable table(
      {"NAME", "ROLE", "STATUS", "MODEL", "WAITS FOR", "DIRECTORY", "SESSION"});
  for (const v1::RosterEntry& entry : response.sessions()) {
    std::string waits;
    for (const std::string& id : entry.waits_for()) {
      const auto found = names.find(id);
      waits += (waits.empty() ? "" : ", ") +
               (found == names.end() ? IdLabel(id, 80) : found->second);
    }
    table.AddRow({Name(entry), std::string(RoleName(entry.role())),
                  SessionStatus(entry),
                  entry.activity().model().empty()
                      ? ""
                      : MarkedLine(entry.activity().model(), 80),
                  waits, SafeLabel(entry.cwd(), kPathCharacters),
                  IdLabel(entry.short_id(), kMaxSessionIdBytes)});
  }
  return table.ToString();
}

std::string RunsReport(const v1::ListAllRunsResponse& response,
                       absl::Time now) {
  if (response.runs().empty()) return "No runs.\n";
  TextTable table({"RUN", "LABEL", "STATE", "SUPERVISOR", "WORKER", "OPENED",
                   "TIME", "TURNS", "TOKENS", "REMARK"});
  for (const v1::Run& run : response.runs()) {
    table.AddRow(
        {IdLabel(run.run_id(), 40),
         run.label().empty() ? "" : SafeLabel(run.label(), kNameColumns),
         std::string(RunStateLabel(run.state())),
         NameOr(run.supervisor_name(), run.supervisor_session_id()),
         NameOr(run.worker_name(), run.worker_session_id()),
         Age(run.opened_at(), now),
         run.has_started_at() ? TimeTaken(DurationOf(run, now)) : "",
         Count(run.turns()), Count(TokensOf(run.usage())), RunRemark(run)});
  }
  return table.ToString() + LeftOut(response.left_out());
}

std::string AsksReport(const v1::ListOpenAsksResponse& response,
                       absl::Time now) {
  if (response.asks().empty()) return "No questions wait for an answer.\n";
  TextTable table({"ID", "FROM", "TO", "ASKED", "TIME LEFT", "AWAITED", "STATE",
                   "WAITING"});
  for (const v1::Ask& ask : response.asks()) {
    const bool is_open = ask.state() == v1::Ask::STATE_OPEN;
    table.AddRow({IdOf(ask.delivery_id()), ShortSenderLabel(ask.asker()),
                  NameOr(ask.recipient_name(), ask.recipient_session_id()),
                  Age(ask.asked_at(), now),
                  is_open ? AgeLabel(ToTime(ask.deadline_at()) - now) : "over",
                  ask.awaited() ? "yes" : "no",
                  std::string(StateLabel(ask.delivery_state())),
                  std::string(WaitWord(ask.wait_reason()))});
  }
  return table.ToString() + LeftOut(response.left_out());
}

std::string ReportsReport(const v1::GetWorkspaceResponse& response,
                          absl::Time now, const Terminal& terminal) {
  std::string text;
  for (const v1::RosterEntry& entry : response.entries()) {
    if (!entry.has_report()) continue;
    const v1::Report& report = entry.report();
    text += terminal.Bold(NameOr(entry.name(), entry.session_id())) + " " +
            std::string(ReportStatusName(report.status())) + " " +
            Age(report.reported_at(), now) + " ago" +
            (report.overdue() ? terminal.Red(", overdue") : "") + "\n  " +
            SafeLabel(report.summary(), 2000) + "\n";
  }
  return text.empty() ? "No reports.\n" : text;
}

std::string ChannelsReport(const v1::ListChannelsResponse& response) {
  if (response.channels().empty()) return "No channels.\n";
  TextTable table(
      {"SCOPE", "NAMESPACE", "MEMBERS", "OWNER", "REVISION", "STATE BYTES"});
  for (const v1::ChannelSummary& channel : response.channels()) {
    table.AddRow(
        {channel.scope().empty() ? "" : SafeLabel(channel.scope()),
         SafeLabel(channel.namespace_()),
         std::to_string(channel.member_session_ids_size()),
         channel.has_owner() ? IdLabel(channel.owner().session_id(), 80) : "",
         Count(channel.revision()), Count(channel.state_bytes())});
  }
  return table.ToString();
}

std::string DeliveriesReport(const v1::ListDeliveriesResponse& response,
                             absl::Time now) {
  if (response.deliveries().empty()) return "No deliveries.\n";
  TextTable table({"ID", "AT", "KIND", "TOPIC", "FROM", "TO", "STATE",
                   "WAITING", "SINCE", "BYTES", "RUN"});
  for (const v1::DeliverySummary& one : response.deliveries()) {
    table.AddRow({IdOf(one.delivery_id()), DateAndTime(one.accepted_at()),
                  std::string(KindLabel(one.kind())),
                  one.topic().empty() ? "" : NameLabel(one.topic(), 64),
                  ShortSenderLabel(one.sender()),
                  NameOr(one.recipient_name(), one.recipient_session_id()),
                  DeliveryState(one), std::string(WaitWord(one.wait_reason())),
                  one.has_waiting_since() ? Age(one.waiting_since(), now) : "",
                  std::to_string(one.text_bytes()),
                  one.run_id().empty() ? "" : IdLabel(one.run_id(), 40)});
  }
  if (response.next_page_token().empty()) return table.ToString();
  return table.ToString() + "There may be older ones: --limit N\n";
}

std::string ConfigReport(const v1::CheckConfigResponse& response,
                         const Terminal& terminal) {
  std::string text =
      terminal.Bold(SafeLabel(response.file(), kPathCharacters)) + "\n";
  bool is_usable = true;
  for (const v1::ConfigFinding& finding : response.findings()) {
    std::string severity = "note";
    if (finding.severity() == v1::ConfigFinding::SEVERITY_ERROR) {
      severity = terminal.Red("error");
      is_usable = false;
    } else if (finding.severity() == v1::ConfigFinding::SEVERITY_WARNING) {
      severity = "warning";
    }
    text += severity + ": " + SafeLabel(finding.message(), 2000) + "\n";
    if (!finding.remedy().empty()) {
      text += "  " + SafeLabel(finding.remedy(), 1000) + "\n";
    }
  }
  if (!is_usable) return text;
  return text + "Valid: " + std::to_string(response.agents()) +
         (response.agents() == 1 ? " agent" : " agents") +
         ", workers open in " + NameLabel(response.multiplexer(), 32) + ".\n";
}

}  // namespace intercom
