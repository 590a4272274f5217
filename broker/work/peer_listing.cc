// How the peer directory lists those whom it finds.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "broker/domain/text_rules.h"
#include "broker/work/peer_directory.h"

namespace intercom {
namespace {

// Ids that begin alike and are told apart.
constexpr int kMaxAlike = 64;

}  // namespace

void PeerDirectory::ListSessions(CallerEvidence evidence,
                                 v1::ListSessionsRequest request,
                                 ListDone done) {
  const auto shared_done = std::make_shared<ListDone>(std::move(done));
  const std::string scope = request.scope();
  workspaces_.DecideAnywhere(
      std::move(evidence), scope, Operation::kPeerList,
      [this, request = std::move(request), shared_done](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        INTERCOM_ASSIGN_OR_RETURN(v1::ListSessionsResponse response,
                                  List(call, request));
        effects.AfterCommit(
            [shared_done, response = std::move(response)]() mutable {
              (*shared_done)(std::move(response));
            });
        return absl::OkStatus();
      },
      [shared_done](const absl::Status& status) { (*shared_done)(status); });
}

absl::StatusOr<v1::ListSessionsResponse> PeerDirectory::List(
    const DecidedCall& call, const v1::ListSessionsRequest& request) const {
  const std::string_view cwd = WithoutTrailingSlash(request.cwd());
  if (!cwd.empty() && cwd.front() != '/') {
    return Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID",
                 "cwd is not an absolute directory: " + SafeLabel(cwd, 1024));
  }
  const std::string& self = call.caller.host_session_id;
  const Attachment* caller = self.empty() ? nullptr : roster_.Find(self);
  INTERCOM_ASSIGN_OR_RETURN(Reachable reachable, Nearby(call));
  if (request.with_away()) {
    INTERCOM_RETURN_IF_ERROR(AddAwayListed(call, reachable));
  }
  INTERCOM_ASSIGN_OR_RETURN(const ShortIdOf short_ids,
                            ShortIdsOf(call, reachable));
  const auto is_here = [&](const PeerCandidate& one) {
    return caller != nullptr && one.cwd == caller->cwd;
  };
  struct Listed {
    PeerCandidate one;
    std::string key;
  };
  std::vector<Listed> listed;
  for (const PeerCandidate& one : reachable.candidates) {
    const bool is_asked_for = (request.with_away() || one.is_attached()) &&
                              (cwd.empty() || one.cwd == cwd);
    if (one.session_id == self || is_asked_for) {
      listed.push_back({one, NameKey(one.name)});
    }
  }
  const auto order = [&](const Listed& entry) {
    return std::tuple(entry.one.session_id != self, !entry.one.is_attached(),
                      !is_here(entry.one), std::string_view(entry.key),
                      entry.one.session_id);
  };
  std::sort(listed.begin(), listed.end(),
            [&](const auto& a, const auto& b) { return order(a) < order(b); });

  v1::ListSessionsResponse response;
  for (const auto& [one, name] : listed) {
    if (response.sessions_size() == kMaxListed) break;
    v1::RosterEntry entry = Describe(one);
    entry.set_short_id(short_ids.find(one.session_id)->second);
    if (name.empty() && one.is_attached()) {
      entry.set_runtime_name(RuntimeName(entry.short_id()));
    }
    entry.set_same_directory(is_here(one));
    if (one.session_id == self) {
      *response.mutable_self() = std::move(entry);
    } else {
      *response.add_sessions() = std::move(entry);
    }
  }
  return response;
}

absl::StatusOr<PeerDirectory::ShortIdOf> PeerDirectory::ShortIdsOf(
    const DecidedCall& call, Reachable& reachable) const {
  std::vector<std::string_view> ids;
  for (const PeerCandidate& one : reachable.candidates) {
    ids.push_back(one.session_id);
  }
  // A prefix of one that is away must not fit those that are not listed.
  const size_t count = ids.size();
  for (size_t i = 0; i < count; ++i) {
    if (reachable.candidates[i].is_attached()) continue;
    INTERCOM_ASSIGN_OR_RETURN(
        auto rows, sessions_.FindByPrefix(
                       call.scope, ShortIds({ids[i]}).front(), kMaxAlike));
    for (SessionRow& row : rows) {
      if (std::find(ids.begin(), ids.end(), row.session_id) == ids.end()) {
        ids.push_back(reachable.rows.emplace_back(std::move(row)).session_id);
      }
    }
  }
  const std::vector<std::string> short_ids = ShortIds(ids);
  ShortIdOf by_id;
  for (size_t i = 0; i < count; ++i) {
    by_id.emplace(std::string(ids[i]), short_ids[i]);
  }
  return by_id;
}

// Those that mail finds by their names: not one whose name in its directory is
// that of a session that is attached, or was seen later.
absl::Status PeerDirectory::AddAwayListed(const DecidedCall& call,
                                          Reachable& reachable) const {
  const auto is_taken = [&](const std::string& key, std::string_view cwd) {
    return std::any_of(
        reachable.candidates.begin(), reachable.candidates.end(),
        [&](const PeerCandidate& one) {
          return one.cwd == cwd &&
                 (NameKey(one.name) == key || NameKey(one.own_name) == key);
        });
  };
  std::vector<std::pair<std::string, std::string>> seen;
  const auto accept = [&](const SessionRow& row) {
    if (roster_.Find(row.session_id) != nullptr) return false;
    const v1::AgentEntry* entry = EntryOf(row);
    std::string key = NameKey(entry == nullptr ? row.name : entry->name());
    if (key.empty() || is_taken(key, row.cwd)) return false;
    std::pair place(std::move(key), row.cwd);
    if (std::find(seen.begin(), seen.end(), place) != seen.end()) return false;
    seen.push_back(std::move(place));
    return true;
  };
  INTERCOM_ASSIGN_OR_RETURN(
      auto rows, sessions_.LastSeen(call.scope, kMaxAwayListed, accept));
  for (SessionRow& row : rows) AddRow(call, std::move(row), reachable);
  return absl::OkStatus();
}

v1::RosterEntry PeerDirectory::Describe(const PeerCandidate& one) const {
  const auto workspace = mirror_.Find(one.workspace_root);
  v1::RosterEntry entry = view_.Describe(
      one.session_id, workspace.get(),
      workspace == nullptr ? nullptr : workspace->EntryOf(one.session_id));
  // What only members of a workspace need: an answer stays small.
  entry.clear_description();
  entry.clear_report();
  entry.clear_job();
  // Each workspace has a Coordinator: the name of its own tells it apart.
  const bool by_own_name =
      entry.role() == v1::ROLE_COORDINATOR && !IsBlank(one.own_name);
  entry.set_name(std::string(Trimmed(by_own_name ? one.own_name : one.name)));
  entry.set_presence(one.presence);
  entry.set_stable_id(std::string(one.stable_id));
  entry.set_cwd(std::string(one.cwd));
  if (waits_for_) {
    for (std::string& id : waits_for_(one.session_id)) {
      entry.add_waits_for(std::move(id));
    }
  }
  return entry;
}

}  // namespace intercom
