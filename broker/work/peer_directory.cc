#include "broker/work/peer_directory.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/short_id.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

// Rows of one kind that are looked at.
constexpr int kMaxRows = 256;

// A worker goes by its configured name alone; a coordinator by its own, too.
std::string_view OwnNameOf(const Attachment& attachment) {
  return attachment.entry.has_value() && attachment.entry->coordinator()
             ? std::string_view(attachment.session_name)
             : std::string_view();
}

PeerCandidate CandidateOf(const Attachment& attachment) {
  return {.session_id = attachment.session_id,
          .name = attachment.name(),
          .own_name = OwnNameOf(attachment),
          .stable_id = attachment.stable_id,
          .workspace_root = attachment.root,
          .cwd = attachment.cwd,
          .presence = v1::PRESENCE_ATTACHED};
}

PeerCandidate CandidateOf(const SessionRow& row, std::string_view name,
                          v1::Presence presence) {
  return {.session_id = row.session_id,
          .name = name,
          .stable_id = row.stable_id,
          .workspace_root = row.workspace_root,
          .cwd = row.cwd,
          .presence = presence,
          .last_seen = row.last_seen_at};
}

}  // namespace

// Configured sessions of one workspace see each other; everything else stays in
// its scope.
bool PeerDirectory::Sees(const DecidedCall& call, std::string_view scope,
                         std::string_view session_id) const {
  if (scope == call.scope) return true;
  return (call.role == v1::ROLE_COORDINATOR || call.role == v1::ROLE_WORKER) &&
         call.workspace != nullptr &&
         call.workspace->EntryOf(session_id) != nullptr;
}

const v1::AgentEntry* PeerDirectory::EntryOf(const SessionRow& row) const {
  const auto workspace = mirror_.Find(row.workspace_root);
  // The mirror keeps it for as long as this command runs.
  return workspace == nullptr ? nullptr : workspace->EntryOf(row.session_id);
}

absl::StatusOr<PeerDirectory::Reachable> PeerDirectory::Nearby(
    const DecidedCall& call) const {
  Reachable reachable;
  INTERCOM_RETURN_IF_ERROR(AddTeam(call, reachable));
  for (const Attachment* attachment : std::as_const(roster_).All()) {
    const bool is_of_team =
        call.workspace != nullptr &&
        call.workspace->EntryOf(attachment->session_id) != nullptr;
    if (!is_of_team && attachment->hello.scope() == call.scope) {
      reachable.candidates.push_back(CandidateOf(*attachment));
    }
  }
  return reachable;
}

absl::Status PeerDirectory::AddTeam(const DecidedCall& call,
                                    Reachable& reachable) const {
  if (call.workspace == nullptr) return absl::OkStatus();
  for (const v1::AgentEntry& entry : call.workspace->agents) {
    PeerCandidate candidate;
    std::string_view scope;
    if (const Attachment* attachment = roster_.Find(entry.session_id())) {
      candidate = CandidateOf(*attachment);
      scope = attachment->hello.scope();
    } else {
      INTERCOM_ASSIGN_OR_RETURN(auto row, sessions_.Find(entry.session_id()));
      if (row.has_value()) {
        reachable.rows.push_back(*std::move(row));
        candidate =
            CandidateOf(reachable.rows.back(), entry.name(),
                        roster_.PresenceOf(entry.session_id()).presence);
        scope = reachable.rows.back().scope;
      } else {
        // It never was anywhere: it will come to where the caller is.
        candidate.session_id = entry.session_id();
        candidate.workspace_root = call.root();
        scope = call.scope;
      }
    }
    candidate.name = entry.name();
    candidate.is_of_team = true;
    if (Sees(call, scope, entry.session_id())) {
      reachable.candidates.push_back(candidate);
    }
  }
  return absl::OkStatus();
}

void PeerDirectory::AddRow(const DecidedCall& call, SessionRow row,
                           Reachable& reachable) const {
  if (row.scope != call.scope || roster_.Find(row.session_id) != nullptr) {
    return;
  }
  for (const PeerCandidate& there : reachable.candidates) {
    if (!there.is_attached() && there.session_id == row.session_id) return;
  }
  const v1::AgentEntry* entry = EntryOf(row);
  const v1::Presence presence = roster_.PresenceOf(row.session_id).presence;
  const SessionRow& kept = reachable.rows.emplace_back(std::move(row));
  reachable.candidates.push_back(CandidateOf(
      kept, entry == nullptr ? std::string_view(kept.name) : entry->name(),
      presence));
}

absl::Status PeerDirectory::AddAway(const DecidedCall& call,
                                    std::string_view to, bool by_name,
                                    Reachable& reachable) const {
  if (to.empty()) return absl::OkStatus();
  INTERCOM_ASSIGN_OR_RETURN(auto same, sessions_.Find(to));
  if (same.has_value()) AddRow(call, *std::move(same), reachable);
  INTERCOM_ASSIGN_OR_RETURN(auto stable,
                            sessions_.FindByStableId(call.scope, to));
  if (stable.has_value()) AddRow(call, *std::move(stable), reachable);
  if (!by_name) return absl::OkStatus();
  if (CharacterCount(to) >= kMinIdPrefix) {
    INTERCOM_ASSIGN_OR_RETURN(auto rows,
                              sessions_.FindByPrefix(call.scope, to, kMaxRows));
    for (SessionRow& row : rows) AddRow(call, std::move(row), reachable);
  }
  INTERCOM_RETURN_IF_ERROR(AddAwayNamed(call, to, reachable));
  for (size_t at = to.find('@'); at != std::string_view::npos;
       at = to.find('@', at + 1)) {
    INTERCOM_RETURN_IF_ERROR(AddAwayNamed(call, to.substr(0, at), reachable));
  }
  return absl::OkStatus();
}

absl::Status PeerDirectory::AddAwayNamed(const DecidedCall& call,
                                         std::string_view name,
                                         Reachable& reachable) const {
  const std::string key = NameKey(name);
  if (key.empty()) return absl::OkStatus();
  INTERCOM_ASSIGN_OR_RETURN(auto rows,
                            sessions_.FindNamed(call.scope, key, kMaxRows));
  for (SessionRow& row : rows) AddRow(call, std::move(row), reachable);
  // A configured name counts more than the session's own.
  for (const auto& workspace : mirror_.All()) {
    for (const v1::AgentEntry& entry : workspace->agents) {
      if (NameKey(entry.name()) != key) continue;
      INTERCOM_ASSIGN_OR_RETURN(auto row, sessions_.Find(entry.session_id()));
      if (row.has_value() && row->workspace_root == workspace->root) {
        AddRow(call, *std::move(row), reachable);
      }
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<PeerTarget> PeerDirectory::Resolve(const DecidedCall& call,
                                                  std::string_view to,
                                                  std::string_view cwd) const {
  to = Trimmed(to);
  const PeerQuery query{to, cwd, call.caller.host_session_id};
  // Nothing comes before a full id.
  if (const Attachment* attachment = roster_.Find(to);
      attachment != nullptr && Sees(call, attachment->hello.scope(), to)) {
    const PeerCandidate candidate = CandidateOf(*attachment);
    INTERCOM_RETURN_IF_ERROR(ResolvePeer(query, {candidate}).status());
    return TargetOf(candidate);
  }
  INTERCOM_ASSIGN_OR_RETURN(Reachable reachable, Nearby(call));
  INTERCOM_RETURN_IF_ERROR(AddAway(call, to, /*by_name=*/false, reachable));
  absl::StatusOr<size_t> place = ResolvePeer(query, reachable.candidates);
  if (ReasonOf(place.status()) == "UNKNOWN_RECIPIENT") {
    INTERCOM_RETURN_IF_ERROR(AddAway(call, to, /*by_name=*/true, reachable));
    place = ResolvePeer(query, reachable.candidates);
  }
  if (!place.ok()) return place.status();
  return TargetOf(reachable.candidates[*place]);
}

absl::StatusOr<PeerTarget> PeerDirectory::Find(
    const DecidedCall& call, std::string_view session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id);
      attachment != nullptr) {
    if (Sees(call, attachment->hello.scope(), session_id)) {
      return TargetOf(CandidateOf(*attachment));
    }
  } else {
    Reachable reachable;
    INTERCOM_RETURN_IF_ERROR(AddTeam(call, reachable));
    INTERCOM_ASSIGN_OR_RETURN(auto row, sessions_.Find(session_id));
    if (row.has_value()) AddRow(call, *std::move(row), reachable);
    for (const PeerCandidate& candidate : reachable.candidates) {
      if (candidate.session_id == session_id) return TargetOf(candidate);
    }
  }
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT",
               "session " + IdLabel(session_id, kMaxSessionIdBytes) +
                   " can't be reached from here: it never was in this scope. "
                   "Nothing was sent");
}

absl::StatusOr<std::string> PeerDirectory::ScopeOf(
    std::string_view session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return attachment->hello.scope();
  }
  INTERCOM_ASSIGN_OR_RETURN(auto row, sessions_.Find(session_id));
  return row.has_value() ? std::move(row->scope) : std::string();
}

std::string PeerDirectory::DirectoryOf(std::string_view session_id) const {
  if (const Attachment* attachment = roster_.Find(session_id)) {
    return attachment->cwd;
  }
  const auto row = sessions_.Find(session_id);
  return row.ok() && row->has_value() ? (*row)->cwd : "";
}

PeerTarget PeerDirectory::TargetOf(const PeerCandidate& candidate) const {
  PeerTarget target;
  target.session_id = std::string(candidate.session_id);
  // As it is listed.
  target.name = std::string(Trimmed(
      IsBlank(candidate.own_name) ? candidate.name : candidate.own_name));
  // One that is being reloaded is there again in a moment.
  target.attached = candidate.presence != v1::PRESENCE_AWAY;
  const auto workspace = mirror_.Find(candidate.workspace_root);
  target.configured = candidate.is_of_team ||
                      (workspace != nullptr &&
                       workspace->EntryOf(candidate.session_id) != nullptr);
  return target;
}

}  // namespace intercom
