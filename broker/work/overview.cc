#include "broker/work/overview.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/activity.h"
#include "broker/domain/identity.h"
#include "broker/work/run_text.h"

namespace intercom {
namespace {

// IDLE for "idle".
v1::ActivityPhase PhaseOf(std::string_view name) {
  for (int phase = v1::ActivityPhase_MIN; phase <= v1::ActivityPhase_MAX;
       ++phase) {
    if (PhaseName(static_cast<v1::ActivityPhase>(phase)) == name) {
      return static_cast<v1::ActivityPhase>(phase);
    }
  }
  return v1::ACTIVITY_PHASE_UNSPECIFIED;
}

}  // namespace

// One overview in the making.
class Overview::Builder {
 public:
  Builder(Overview& overview, std::string_view root)
      : overview_(overview), root_(root), now_(overview.clock_.Now()) {}

  absl::StatusOr<Built> Build();

 private:
  absl::Status Read();
  void AddWorkspace(const Workspace& workspace);
  void AddAttached(const std::string& root, const Workspace* workspace,
                   v1::WorkspaceOverview& to);
  void AddSession(const std::string& id, const Workspace* workspace,
                  const v1::AgentEntry* entry, v1::WorkspaceOverview& to);
  void AddRuns(const std::string& id, v1::SessionOverview& session);
  void AddWaits();
  void AddWait(v1::WaitEdge::Kind kind, const std::string& waiting,
               const std::string& awaited, absl::Time since);
  std::string NameOf(const std::string& id) const;
  // Something will be different then.
  void ChangesAt(absl::Time at) { ChangesIn(at - now_); }
  void ChangesIn(absl::Duration in) {
    built_.changes_in =
        std::min(built_.changes_in, std::max(in, absl::ZeroDuration()));
  }

  Overview& overview_;
  const std::string root_;
  const absl::Time now_;
  Built built_;
  absl::flat_hash_map<std::string, int64_t> waiting_mail_;
  ReportStore::All reports_;
  std::vector<AskDesk::OpenAsk> asks_;
  absl::flat_hash_map<std::string, int> asked_;
  std::vector<RunRow> runs_;
  absl::flat_hash_map<std::string, std::vector<const RunRow*>> by_worker_;
  // By root, in the order of arrival.
  std::map<std::string, std::vector<const Attachment*>> attached_;
  // Of the sessions that are shown.
  absl::flat_hash_map<std::string, std::string> names_;
};

absl::Status Overview::Builder::Read() {
  INTERCOM_ASSIGN_OR_RETURN(waiting_mail_, overview_.mailboxes_.Counts());
  INTERCOM_ASSIGN_OR_RETURN(reports_, overview_.reports_.ListAll());
  INTERCOM_ASSIGN_OR_RETURN(asks_, overview_.asks_.AllOpen());
  for (const AskDesk::OpenAsk& ask : asks_) {
    ++asked_[ask.row.recipient_session_id];
  }
  runs_ = overview_.runs_.All();
  for (const RunRow& run : runs_) {
    by_worker_[run.worker_session_id].push_back(&run);
  }
  for (const Attachment* attachment : overview_.roster_.All()) {
    attached_[attachment->root].push_back(attachment);
  }
  return absl::OkStatus();
}

absl::StatusOr<Overview::Built> Overview::Builder::Build() {
  INTERCOM_RETURN_IF_ERROR(Read());
  v1::WatchOverviewResponse& response = built_.response;
  response = overview_.frame_;
  *response.mutable_at() = ToProto(now_);
  if (!root_.empty()) {
    if (const auto workspace = overview_.mirror_.Find(root_)) {
      AddWorkspace(*workspace);
    } else {
      response.add_workspaces()->set_root(root_);
    }
  } else {
    // Where there are too many, those where somebody is.
    auto workspaces = overview_.mirror_.All();
    std::stable_partition(workspaces.begin(), workspaces.end(),
                          [&](const auto& workspace) {
                            return attached_.contains(workspace->root);
                          });
    for (const auto& workspace : workspaces) AddWorkspace(*workspace);
    if (attached_.contains("")) {
      AddAttached("", nullptr, *response.add_workspaces());
    }
  }
  AddWaits();
  for (const auto& [id, waiting] : waiting_mail_) {
    if (IsPersonSessionId(id)) response.set_unread(waiting);
  }
  *response.mutable_minutes() = overview_.metrics_.traffic().Minutes();
  return std::move(built_);
}

void Overview::Builder::AddWorkspace(const Workspace& workspace) {
  v1::WorkspaceOverview& told = *built_.response.add_workspaces();
  told.set_root(workspace.root);
  told.set_coordinator_session_id(workspace.coordinator_session_id);
  told.set_stale(!workspace.config_error.empty());
  told.set_config_error(workspace.config_error);
  const auto add = [&](bool coordinator) {
    for (const v1::AgentEntry& entry : workspace.agents) {
      const bool is_coordinator =
          entry.session_id() == workspace.coordinator_session_id;
      if (is_coordinator == coordinator) {
        AddSession(entry.session_id(), &workspace, &entry, told);
      }
    }
  };
  add(/*coordinator=*/true);
  add(/*coordinator=*/false);
  AddAttached(workspace.root, &workspace, told);
}

void Overview::Builder::AddAttached(const std::string& root,
                                    const Workspace* workspace,
                                    v1::WorkspaceOverview& to) {
  for (const Attachment* attachment : attached_[root]) {
    if (workspace == nullptr ||
        workspace->EntryOf(attachment->session_id) == nullptr) {
      AddSession(attachment->session_id, workspace, nullptr, to);
    }
  }
}

void Overview::Builder::AddSession(const std::string& id,
                                   const Workspace* workspace,
                                   const v1::AgentEntry* entry,
                                   v1::WorkspaceOverview& to) {
  if (names_.size() >= kMaxSessions) {
    built_.response.set_left_out(built_.response.left_out() + 1);
    return;
  }
  v1::SessionOverview& session = *to.add_sessions();
  v1::RosterEntry& described = *session.mutable_entry();
  described = overview_.view_.DescribeLive(id, workspace, entry);
  names_[id] = described.name();
  described.clear_description();
  if (described.has_job()) described.mutable_job()->clear_detail();
  if (const auto mail = waiting_mail_.find(id); mail != waiting_mail_.end()) {
    described.set_waiting(mail->second);
  }
  if (workspace != nullptr && entry != nullptr) {
    if (const auto report = reports_.find({workspace->root, id});
        report != reports_.end()) {
      *described.mutable_report() = report->second;
      ChangesAt(overview_.reports_.OverdueAt(report->second));
    }
  }
  if (described.presence() == v1::PRESENCE_ATTACHED) {
    *session.mutable_last_seen_at() = ToProto(now_);
  } else {
    if (!described.has_presence_since()) {
      if (const auto seen = overview_.LastSeen(id)) {
        *described.mutable_presence_since() = ToProto(*seen);
      }
    } else if (described.presence() == v1::PRESENCE_RESTARTING) {
      const absl::Duration gone = now_ - FromProto(described.presence_since());
      ChangesIn(Roster::kRestartGrace - std::max(gone, absl::ZeroDuration()));
    }
    if (described.has_presence_since()) {
      *session.mutable_last_seen_at() = described.presence_since();
    }
  }
  const v1::Activity& activity = described.has_activity()
                                     ? described.activity()
                                     : overview_.LastActivity(id);
  if (activity.has_at()) *session.mutable_last_activity() = activity;
  if (const auto asked = asked_.find(id); asked != asked_.end()) {
    session.set_asked(asked->second);
  }
  AddRuns(id, session);
}

void Overview::Builder::AddRuns(const std::string& id,
                                v1::SessionOverview& session) {
  const auto found = by_worker_.find(id);
  if (found == by_worker_.end()) return;
  const RunRow& oldest = *found->second.front();
  *session.mutable_run() = ToProto(oldest, now_);
  session.mutable_run()->clear_detail();
  session.set_more_runs(static_cast<int32_t>(found->second.size()) - 1);
  if (oldest.state == v1::Run::STATE_RUNNING && !session.run().stalled() &&
      oldest.last_advance_at.has_value()) {
    ChangesAt(*oldest.last_advance_at + kStalledAfter);
  }
}

void Overview::Builder::AddWaits() {
  const absl::Duration steady = overview_.clock_.Steady();
  for (const AskDesk::OpenAsk& ask : asks_) {
    if (!ask.awaited_until.has_value()) continue;
    AddWait(v1::WaitEdge::KIND_ASK, ask.row.asker_session_id,
            ask.row.recipient_session_id, ask.row.asked_at);
    ChangesIn(*ask.awaited_until - steady);
  }
  for (const RunWaits::AwaitedRun& awaited : overview_.run_waits_.Awaited()) {
    const RunRow* run = overview_.runs_.Find(awaited.number);
    if (run == nullptr) continue;
    AddWait(v1::WaitEdge::KIND_RUN, run->supervisor_session_id,
            run->worker_session_id, awaited.since);
    ChangesIn(awaited.until - steady);
  }
}

void Overview::Builder::AddWait(v1::WaitEdge::Kind kind,
                                const std::string& waiting,
                                const std::string& awaited, absl::Time since) {
  if (!root_.empty() && !names_.contains(waiting) &&
      !names_.contains(awaited)) {
    return;
  }
  v1::WaitEdge& edge = *built_.response.add_waits();
  edge.set_kind(kind);
  edge.set_waiting_session_id(waiting);
  edge.set_waiting_name(NameOf(waiting));
  edge.set_for_session_id(awaited);
  edge.set_for_name(NameOf(awaited));
  *edge.mutable_since() = ToProto(since);
}

std::string Overview::Builder::NameOf(const std::string& id) const {
  const auto found = names_.find(id);
  if (found != names_.end() && !found->second.empty()) return found->second;
  return overview_.asks_.NameOf(id);
}

Overview::Overview(const Roster& roster, const WorkspaceMirror& mirror,
                   const RosterView& view, MailboxStore& mailboxes,
                   SessionStore& sessions, const Reports& reports,
                   Observations& observations, const Runs& runs,
                   const RunWaits& run_waits, const AskDesk& asks,
                   Metrics& metrics, const Clock& clock,
                   const v1::GetBrokerResponse& broker)
    : roster_(roster),
      mirror_(mirror),
      view_(view),
      mailboxes_(mailboxes),
      sessions_(sessions),
      reports_(reports),
      observations_(observations),
      runs_(runs),
      run_waits_(run_waits),
      asks_(asks),
      metrics_(metrics),
      clock_(clock) {
  frame_.set_broker_version(broker.version());
  *frame_.mutable_broker_started_at() = broker.started_at();
  *frame_.mutable_notices() = broker.notices();
}

absl::StatusOr<Overview::Built> Overview::Build(std::string_view root) {
  return Builder(*this, root).Build();
}

std::optional<absl::Time> Overview::LastSeen(const std::string& session_id) {
  if (last_seen_.size() >= kMaxRemembered) last_seen_.clear();
  const auto [known, added] = last_seen_.try_emplace(session_id);
  if (added) {
    const auto row = sessions_.Find(session_id);
    if (row.ok() && row->has_value()) known->second = (*row)->last_seen_at;
  }
  return known->second;
}

const v1::Activity& Overview::LastActivity(const std::string& session_id) {
  if (last_activity_.size() >= kMaxRemembered) last_activity_.clear();
  const auto [known, added] = last_activity_.try_emplace(session_id);
  if (added) {
    const auto stored = observations_.LastActivity(session_id);
    if (stored.ok() && stored->has_value()) {
      known->second.set_phase(PhaseOf((*stored)->phase()));
      known->second.set_label((*stored)->label());
      *known->second.mutable_at() = (*stored)->at();
    }
  }
  return known->second;
}

void Overview::OnAttached(Attachment& attachment) {
  last_seen_.erase(attachment.session_id);
}

void Overview::OnDetached(const Attachment& attachment, bool) {
  last_seen_.erase(attachment.session_id);
  if (attachment.activity.has_at()) {
    last_activity_[attachment.session_id] = attachment.activity;
  }
}

}  // namespace intercom
