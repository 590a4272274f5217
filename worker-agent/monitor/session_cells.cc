#include "worker-agent/monitor/session_cells.h"

#include <algorithm>
#include <cmath>

#include "broker/domain/fence.h"
#include "broker/domain/job.h"
#include "broker/domain/report.h"

namespace intercom {
namespace {

constexpr size_t kLabelCharacters = 64;

bool IsAttached(const v1::RosterEntry& entry) {
  return entry.presence() == v1::PRESENCE_ATTACHED;
}

// What is being done with it, where something is.
StyledText JobWord(const v1::Job& job) {
  if (job.state() == v1::Job::STATE_UNCERTAIN) {
    return {"uncertain", Style::kBad};
  }
  if (!IsPending(job.state())) return {};
  switch (job.kind()) {
    case v1::Job::KIND_CLOSE:
      return {"closing", Style::kWaiting};
    case v1::Job::KIND_STOP:
      return {"stopping", Style::kWaiting};
    default:
      return {"launching", Style::kWaiting};
  }
}

// When there was last a sign of it: of one that is attached, when it came or
// said what it does. Unset where there never was.
google::protobuf::Timestamp LastSign(const v1::SessionOverview& session) {
  const google::protobuf::Timestamp& activity = session.last_activity().at();
  const google::protobuf::Timestamp& seen =
      IsAttached(session.entry()) ? session.entry().presence_since()
                                  : session.last_seen_at();
  return FromProto(activity) > FromProto(seen) ? activity : seen;
}

bool IsSet(const google::protobuf::Timestamp& time) {
  return time.seconds() != 0 || time.nanos() != 0;
}

}  // namespace

std::string SessionName(const v1::RosterEntry& entry) {
  return NameOr(entry.name().empty() ? entry.runtime_name() : entry.name(),
                entry.session_id());
}

StyledText ConnectionText(const v1::RosterEntry& entry, Ages& ages) {
  if (entry.has_job()) {
    StyledText job = JobWord(entry.job());
    if (!job.text.empty()) return job;
  }
  switch (entry.presence()) {
    case v1::PRESENCE_ATTACHED:
      return {"attached", Style::kPlain};
    case v1::PRESENCE_RESTARTING:
      return {"restarting", Style::kWaiting};
    default:
      break;
  }
  if (!entry.has_presence_since()) return {"never seen", Style::kFaint};
  return {"away " + ages.Of(entry.presence_since()), Style::kFaint};
}

StyledText MailText(const v1::RosterEntry& entry) {
  if (entry.waiting() <= 0) return {};
  return {entry.waiting() > 9999 ? "9999" : std::to_string(entry.waiting()),
          Style::kWaiting};
}

StyledText ReportText(const v1::Report& report) {
  std::string text(ReportStatusName(report.status()));
  std::replace(text.begin(), text.end(), '_', ' ');
  switch (report.status()) {
    case v1::Report::STATUS_BLOCKED:
    case v1::Report::STATUS_NEEDS_DECISION:
      if (report.overdue()) return {"! " + text, Style::kBad};
      return {text, report.has_answered_at() ? Style::kFaint : Style::kWaiting};
    case v1::Report::STATUS_READY_FOR_REVIEW:
      return {text, report.has_answered_at() ? Style::kFaint : Style::kWaiting};
    default:
      return {};
  }
}

StyledText ActivityText(const v1::SessionOverview& session, bool says_away,
                        const Ages& ages) {
  if (!IsAttached(session.entry())) {
    return {says_away ? "away" : "-", Style::kFaint};
  }
  const v1::Activity& activity = session.last_activity();
  // What is older than a minute is no news, and is not told in colour.
  const Style busy = ages.IsOld(activity.at()) ? Style::kPlain : Style::kGood;
  switch (activity.phase()) {
    case v1::ACTIVITY_PHASE_IDLE:
      return {"idle", Style::kFaint};
    case v1::ACTIVITY_PHASE_THINKING:
      return {"thinking", busy};
    case v1::ACTIVITY_PHASE_WORKING:
    case v1::ACTIVITY_PHASE_RESPONDING:
    case v1::ACTIVITY_PHASE_TOOL:
      return {"working", busy};
    default:
      return {"unknown", Style::kFaint};
  }
}

StyledText SeenText(const v1::SessionOverview& session, Ages& ages) {
  const google::protobuf::Timestamp at = LastSign(session);
  if (!IsSet(at)) return {"never", Style::kFaint};
  const std::string text = ages.Of(at) + " ago";
  if (!ages.IsOld(at)) return {text, Style::kPlain};
  return {text + " (old)", Style::kFaint};
}

StyledText RunText(const v1::SessionOverview& session, Ages& ages) {
  if (!session.has_run()) return {};
  const v1::Run& run = session.run();
  std::string text = IdLabel(run.run_id(), 32);
  if (session.more_runs() > 0) {
    text += " +" + std::to_string(session.more_runs());
  }
  text +=
      " " + ages.Of(run.has_started_at() ? run.started_at() : run.opened_at());
  if (!run.label().empty()) text += " " + MarkedLine(run.label(), 40);
  if (run.stalled()) return {"stalled " + text, Style::kWaiting};
  return {text, run.state() == v1::Run::STATE_WAITING ? Style::kWaiting
                                                      : Style::kPlain};
}

StyledText ContextText(const v1::Activity& activity) {
  if (!activity.has_context_percent()) return {};
  const double percent = std::clamp(activity.context_percent(), 0.0, 100.0);
  return {std::to_string(std::lround(percent)) + "%",
          percent >= 90   ? Style::kBad
          : percent >= 75 ? Style::kWaiting
                          : Style::kPlain};
}

StyledText LastActivityText(const v1::SessionOverview& session,
                            const Ages& ages) {
  const v1::Activity& activity = session.last_activity();
  std::string text;
  if (!activity.label().empty()) {
    text = SafeLabel(activity.label(), kLabelCharacters);
  } else if (!activity.tool().empty()) {
    text = NameLabel(activity.tool(), kLabelCharacters);
  }
  const bool is_old = !IsAttached(session.entry()) || ages.IsOld(activity.at());
  return {text, is_old ? Style::kFaint : Style::kPlain};
}

}  // namespace intercom
