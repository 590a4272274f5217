#include "worker-agent/cli/work_report.h"

#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "broker/domain/permissions.h"
#include "broker/domain/report.h"
#include "worker-agent/launch/launch.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/text_table.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

constexpr size_t kMaxPathCharacters = 4096;
constexpr size_t kMaxSummaryCharacters = 2000;
constexpr size_t kHandoffColumns = 400;
constexpr size_t kLabelColumns = 14;

// "12m", or "" for the unset time.
std::string Age(const google::protobuf::Timestamp& time, absl::Time now) {
  if (time.seconds() == 0 && time.nanos() == 0) return "";
  return AgeLabel(now - ToTime(time));
}

std::string SeenLabel(const v1::WorkerStatus& worker) {
  if (!worker.has_observed_at()) return "never";
  if (!worker.has_observation_age_seconds()) return "clock was set";
  return AgeLabel(absl::Seconds(worker.observation_age_seconds())) +
         (worker.stale() ? " (old)" : "");
}

std::string ReportCell(const v1::WorkerStatus& worker) {
  if (!worker.has_report()) return "";
  return std::string(ReportStatusName(worker.report().status())) +
         (worker.report().overdue() ? ", overdue" : "");
}

// "Label    text", or nothing without a text.
std::string Line(const std::string& label, const std::string& text) {
  if (text.empty()) return "";
  return label +
         std::string(
             label.size() < kLabelColumns ? kLabelColumns - label.size() : 1,
             ' ') +
         text + "\n";
}

std::string PaneLabel(const v1::Pane& pane) {
  if (pane.launcher().empty()) return "none";
  std::string text =
      NameLabel(pane.launcher()) + " pane " + SafeLabel(pane.pane());
  if (!pane.workspace().empty()) text += " in " + SafeLabel(pane.workspace());
  if (!pane.server().empty()) {
    text += ", server " + SafeLabel(pane.server(), kMaxPathCharacters);
  }
  return text;
}

// A headless worker has no terminal in which a person could end it.
std::string HostingLabel(const v1::GetJobResponse& response) {
  const v1::Pane& pane = response.identity().pane();
  if (pane.launcher() != kHeadlessLauncher || pane.pid() <= 0) return "";
  const std::string pid = std::to_string(pane.pid());
  return "process " + pid +
         (response.host_alive() ? "; kill " + pid + " ends the worker" : "");
}

std::string HostLabel(const v1::GetJobResponse& response) {
  if (!response.has_host_alive()) return "not known";
  return "process " + std::to_string(response.identity().host_pid()) +
         (response.host_alive() ? " still runs" : " is gone");
}

// What is known of a session of the workspace.
std::string SessionLine(const v1::GetWorkspaceResponse& workspace,
                        const std::string& session_id, absl::Time now) {
  std::string text = IdLabel(session_id, 256);
  for (const v1::RosterEntry& entry : workspace.entries()) {
    if (entry.session_id() != session_id) continue;
    if (!entry.name().empty()) text += ", " + NameLabel(entry.name());
    text += ", " + std::string(RoleName(entry.role())) + ", " +
            std::string(PresenceLabel(entry.presence()));
    if (const std::string age = Age(entry.presence_since(), now);
        !age.empty()) {
      text += " for " + age;
    }
    if (entry.host_pid() > 0) {
      text += ", process " + std::to_string(entry.host_pid());
    }
    return text;
  }
  return text + ", not attached";
}

}  // namespace

std::string WorkersReport(const v1::GetWorkerStatusResponse& response,
                          absl::Time now, const Terminal& terminal) {
  std::string text;
  if (response.workers().empty()) text = "No workers.\n";
  TextTable table({"WORKER", "CONNECTION", "STATUS", "SEEN", "EVIDENCE",
                   "LAST ACTIVITY", "REPORT", "CLOSE", "WAITING"});
  std::string below;
  for (const v1::WorkerStatus& worker : response.workers()) {
    const v1::Connection& connection = worker.connection();
    table.AddRow(
        {NameLabel(worker.name(), 40),
         std::string(ConnectionLabel(connection.state())) + ", " +
             NameLabel(connection.reason()),
         std::string(ObservedLabel(worker.observed_status())),
         SeenLabel(worker), std::string(EvidenceLabel(worker.evidence())),
         worker.last_activity().empty()
             ? ""
             : MarkedLine(worker.last_activity(), 64),
         ReportCell(worker),
         worker.has_close_job() ? std::string(JobStateLabel(worker.close_job()))
                                : "",
         worker.waiting() > 0 ? std::to_string(worker.waiting()) : ""});
    const v1::Report& report = worker.report();
    if (!report.summary().empty()) {
      below += NameLabel(worker.name(), 40) + " " +
               std::string(ReportStatusName(report.status())) + " " +
               Age(report.reported_at(), now) + " ago" +
               (report.overdue() ? terminal.Red(", overdue") : "") + ": " +
               SafeLabel(report.summary(), kMaxSummaryCharacters) + "\n";
    }
    if (worker.has_handoff()) {
      below += NameLabel(worker.name(), 40) + " left a handoff " +
               Age(worker.handoff().updated_at(), now) + " ago: " +
               CutToWidth(SafeLabel(worker.handoff().summary(), 4000),
                          kHandoffColumns) +
               "\n";
    }
  }
  if (!response.workers().empty()) text += table.ToString();
  text += below;
  for (const std::string& error : response.errors()) {
    text += terminal.Red("Not known: ") + SafeLabel(error, 1000) + "\n";
  }
  return text;
}

std::string JobsReport(const v1::ListJobsResponse& response, absl::Time now) {
  if (response.jobs().empty()) return "No jobs.\n";
  TextTable table({"ID", "JOB", "WORKER", "STATE", "REASON", "AGE", "FENCES"});
  for (const v1::Job& job : response.jobs()) {
    table.AddRow({ShortId(job.job_id()), std::string(JobKindName(job.kind())),
                  job.name().empty() && job.session_id().empty()
                      ? ""
                      : NameOr(job.name(), job.session_id()),
                  std::string(JobStateLabel(job)),
                  job.reason().empty() ? "" : NameLabel(job.reason(), 64),
                  Age(job.created_at(), now), job.fences() ? "yes" : ""});
  }
  return table.ToString();
}

std::string JobReport(const v1::GetJobResponse& response, absl::Time now,
                      const Terminal& terminal) {
  const v1::Job& job = response.job();
  std::string state(JobStateLabel(job));
  if (!job.reason().empty()) state += ", " + NameLabel(job.reason(), 64);
  std::string text = terminal.Bold(IdLabel(job.job_id(), 128)) + " " +
                     std::string(JobKindName(job.kind())) + "\n";
  text += Line("State", state);
  if (!job.detail().empty()) text += Line("", SafeLabel(job.detail(), 1000));
  if (!job.name().empty() || !job.session_id().empty()) {
    text += Line("Worker",
                 NameOr(job.name(), job.session_id()) +
                     (job.session_id().empty()
                          ? ""
                          : ", session " + IdLabel(job.session_id(), 256)));
  }
  text +=
      Line("Workspace", SafeLabel(job.workspace_root(), kMaxPathCharacters));
  text += Line("Requested", DateAndTime(job.created_at()) + " (" +
                                Age(job.created_at(), now) + " ago)");
  text += Line("Changed", DateAndTime(job.updated_at()));
  text += Line("Deadline", DateAndTime(job.deadline_at()));
  if (!job.launcher().empty())
    text += Line("Launcher", NameLabel(job.launcher()));
  text +=
      Line("Fences", job.fences() ? "its worker, until it ends" : "nothing");
  text +=
      Line("Session", response.attached() ? "attached now" : "not attached");
  text += Line("Host", HostLabel(response));
  text += Line("Pane", PaneLabel(response.identity().pane()));
  text += Line("Hosted by", HostingLabel(response));
  return text;
}

std::string CoordinatorsReport(const v1::GetWorkspaceResponse& workspace,
                               absl::Time now, const Terminal& terminal) {
  return terminal.Bold(SafeLabel(workspace.root(), kMaxPathCharacters)) + "\n" +
         Line("Coordinates",
              SessionLine(workspace, workspace.coordinator_session_id(), now)) +
         Line("Config names",
              SessionLine(workspace, workspace.claimed_coordinator_session_id(),
                          now));
}

std::string ObservationsReport(const v1::ListObservationsResponse& response) {
  if (response.observations().empty()) return "Nothing was observed.\n";
  TextTable table(
      {"AT", "NAME", "SESSION", "KIND", "PHASE", "LABEL", "OUTCOME"});
  const auto cell = [](const std::string& text) {
    return text.empty() ? "" : SafeLabel(text, 256);
  };
  for (const v1::Observation& row : response.observations()) {
    table.AddRow({DateAndTime(row.at()), cell(row.name()),
                  cell(row.session_id()), cell(row.kind()), cell(row.phase()),
                  cell(row.label()), cell(row.outcome())});
  }
  return table.ToString();
}

}  // namespace intercom
