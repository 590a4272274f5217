#include <algorithm>

#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "worker-agent/monitor/panes.h"
#include "worker-agent/monitor/session_cells.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/run_labels.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

constexpr size_t kLabelColumns = 16;
// Of a responsibility, a report or a handoff; the pane can be moved.
constexpr size_t kMostTextLines = 40;

// Facts, each behind its label.
class Facts {
 public:
  explicit Facts(size_t width) : width_(width) {}

  // In as many lines as it needs. Nothing for an empty text.
  void Add(std::string_view label, std::string_view text,
           Style style = Style::kPlain) {
    if (text.empty()) return;
    const size_t indent = width_ >= 60 ? kLabelColumns : 2;
    if (width_ < 60) AddLine(label, "", 0, Style::kPlain);
    bool is_first = width_ >= 60;
    for (const std::string& row :
         WrapText(text, width_ - std::min(width_, indent), kMostTextLines)) {
      AddLine(is_first ? label : "", row, indent, style);
      is_first = false;
    }
  }
  void AddRow(const Line& line) { lines_.push_back(line); }

  std::vector<Line> Take() { return std::move(lines_); }

 private:
  void AddLine(std::string_view label, std::string_view text, size_t indent,
               Style style) {
    Line line;
    if (indent == 0) {
      line.Add(label, Style::kFaint);
    } else {
      line.AddCell(label, indent, Style::kFaint).Add(text, style);
    }
    lines_.push_back(line.FitTo(width_));
  }

  const size_t width_;
  std::vector<Line> lines_;
};

std::string_view RoleWord(v1::Role role) {
  switch (role) {
    case v1::ROLE_COORDINATOR:
      return "coordinator";
    case v1::ROLE_WORKER:
      return "worker";
    case v1::ROLE_ANONYMOUS:
      return "anonymous, not configured";
    default:
      return "peer";
  }
}

std::string Who(const v1::RosterEntry& entry, Ages& ages) {
  std::string text(RoleWord(entry.role()));
  text += " · " + ConnectionText(entry, ages).text;
  if (entry.presence() == v1::PRESENCE_ATTACHED && entry.has_presence_since()) {
    text += " for " + ages.Of(entry.presence_since());
  }
  if (entry.host_pid() > 0) {
    text += " · process " + std::to_string(entry.host_pid());
  }
  text += " · " + IdLabel(entry.session_id().substr(0, 64));
  return text;
}

std::string ActivityFacts(const v1::Activity& activity, Ages& ages) {
  std::string text = ActivityLabel(activity);
  if (text.empty()) return text;
  if (!activity.tool().empty()) text += " · " + NameLabel(activity.tool(), 64);
  if (!activity.model().empty()) text += " · " + SafeLabel(activity.model());
  if (activity.has_context_percent()) {
    text += " · context " + ContextText(activity).text;
  }
  if (activity.turns() > 0) {
    text += " · " + std::to_string(activity.turns()) +
            (activity.turns() == 1 ? " turn" : " turns");
  }
  if (activity.has_at()) text += " · " + ages.Of(activity.at()) + " ago";
  if (!activity.note().empty()) text += " · " + MarkedLine(activity.note(), 80);
  return text;
}

void AddReport(const v1::Report& report, Facts& facts, Ages& ages) {
  const StyledText word = ReportText(report);
  if (word.text.empty()) return;
  std::string text = word.text + ", " + ages.Of(report.reported_at()) + " ago";
  if (report.has_answered_at()) {
    text += ", answered " + ages.Of(report.answered_at()) + " ago";
  } else if (report.overdue()) {
    text += ", overdue";
  }
  facts.Add("Report", text, word.style);
  facts.Add("", report.summary());
}

void AddJob(const v1::Job& job, Facts& facts, Ages& ages) {
  std::string state(JobStateLabel(job));
  std::replace(state.begin(), state.end(), '_', ' ');
  std::string text = std::string(JobKindName(job.kind())) + ": " + state;
  if (!job.reason().empty()) text += " (" + IdLabel(job.reason(), 64) + ")";
  text += " · since " + ages.Of(job.updated_at());
  if (job.fences()) text += " · nothing else is begun meanwhile";
  facts.Add(
      "Job", text,
      job.state() == v1::Job::STATE_UNCERTAIN ? Style::kBad : Style::kWaiting);
  if (job.state() == v1::Job::STATE_UNCERTAIN) {
    facts.Add("", "intercom job resolve " + ShortId(job.job_id()));
  }
}

std::string RunFacts(const v1::Run& run, bool names_worker, Ages& ages) {
  std::string text = IdLabel(run.run_id(), 32);
  if (!run.label().empty()) text += " " + QuotedLine(run.label(), 80);
  text += names_worker
              ? " to " + NameOr(run.worker_name(), run.worker_session_id())
              : " for " +
                    NameOr(run.supervisor_name(), run.supervisor_session_id());
  text += " · " + std::string(RunStateLabel(run.state())) + " " +
          ages.Of(run.has_started_at() ? run.started_at() : run.opened_at());
  if (run.turns() > 0) text += " · " + std::to_string(run.turns()) + " turns";
  if (run.stalled()) text += " · stalled";
  if (run.stop_requested()) text += " · is being stopped";
  return text;
}

std::string AskFacts(const v1::Ask& ask, bool names_recipient, Ages& ages) {
  return (names_recipient
              ? NameOr(ask.recipient_name(), ask.recipient_session_id())
              : NameOr(ask.asker().name(), ask.asker().session_id())) +
         " since " + ages.Of(ask.asked_at());
}

void AddAll(const v1::GetSessionResponse& session, size_t width, Facts& facts,
            Ages& ages) {
  const v1::RosterEntry& entry = session.entry();
  facts.Add("Session", Who(entry, ages));
  const std::string& directory =
      entry.cwd().empty() ? entry.project_directory() : entry.cwd();
  if (!directory.empty()) facts.Add("Directory", MarkedLine(directory, 4096));
  std::string description = entry.description();
  if (entry.responsibility_outdated()) {
    description += "\n(an older version of it is loaded)";
  }
  facts.Add("Responsibility", description);
  facts.Add("Activity", ActivityFacts(entry.activity(), ages));
  if (entry.has_report()) AddReport(entry.report(), facts, ages);
  if (session.has_handoff()) {
    facts.Add("Handoff", ages.Of(session.handoff().updated_at()) + " ago");
    facts.Add("", session.handoff().summary());
  }
  if (entry.has_job()) AddJob(entry.job(), facts, ages);
  for (const v1::Run& run : session.working_on()) {
    facts.Add("Works on", RunFacts(run, /*names_worker=*/false, ages),
              run.stalled() ? Style::kWaiting : Style::kPlain);
  }
  for (const v1::Run& run : session.supervises()) {
    facts.Add("Supervises", RunFacts(run, /*names_worker=*/true, ages),
              run.stalled() ? Style::kWaiting : Style::kPlain);
  }
  for (const v1::Ask& ask : session.asked()) {
    facts.Add("Is asked by", AskFacts(ask, /*names_recipient=*/false, ages),
              Style::kWaiting);
  }
  for (const v1::Ask& ask : session.asks()) {
    facts.Add("Asks", AskFacts(ask, /*names_recipient=*/true, ages),
              Style::kWaiting);
  }
  if (entry.waiting() > 0) {
    facts.Add("Mail", std::to_string(entry.waiting()) + " waiting",
              Style::kWaiting);
  }
  if (session.deliveries().empty()) return;
  facts.Add("Last mail", " ");
  for (const v1::DeliverySummary& delivery : session.deliveries()) {
    Line line;
    line.Pad(2).Append(
        TimelineRow(ItemOf(delivery), width - std::min<size_t>(width, 2)));
    facts.AddRow(line.FitTo(width));
  }
}

}  // namespace

std::vector<Line> DetailsPane(const MonitorModel& model, size_t width,
                              Ages& ages) {
  Facts facts(width);
  const auto& details = model.details();
  if (!details.has_value()) {
    Line line;
    line.Add("Reading …", Style::kFaint);
    facts.AddRow(line.FitTo(width));
  } else if (!details->ok()) {
    Line line;
    line.Add(std::string(details->status().message()), Style::kBad);
    facts.AddRow(line.FitTo(width));
  } else {
    AddAll(**details, width, facts, ages);
  }
  return facts.Take();
}

}  // namespace intercom
