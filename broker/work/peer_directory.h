#ifndef PI_INTERCOM_BROKER_WORK_PEER_DIRECTORY_H_
#define PI_INTERCOM_BROKER_WORK_PEER_DIRECTORY_H_

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/domain/resolve_peer.h"
#include "broker/roster/roster.h"
#include "broker/roster/workspace_mirror.h"
#include "broker/storage/session_store.h"
#include "broker/work/roster_view.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// A session that mail can go to.
struct PeerTarget {
  std::string session_id;
  // What it is called. May be empty.
  std::string name;
  // Or about to be: its host is being reloaded.
  bool attached = false;
  // Whether a config names it: mail to it never expires.
  bool configured = false;
};

// Who is there beyond a workspace: finds recipients among all sessions of a
// scope, and lists them from the same facts, so that the two never disagree.
//
// ListSessions is thread-safe; the rest is called on the state's thread.
class PeerDirectory {
 public:
  // Sessions that are away, in a list.
  static constexpr int kMaxAwayListed = 50;
  // Sessions in a list, at most.
  static constexpr int kMaxListed = 1024;

  // All must outlive this object.
  PeerDirectory(Workspaces& workspaces, WorkspaceMirror& mirror, Roster& roster,
                SessionStore& sessions, RosterView& view)
      : workspaces_(workspaces),
        mirror_(mirror),
        roster_(roster),
        sessions_(sessions),
        view_(view) {}

  // Finds whom `to` and `cwd` name for the caller, as v1::REACH_ACCOUNT
  // describes it. Errors as MessageService.Send: TARGET_EMPTY, SELF_TARGET,
  // UNKNOWN_RECIPIENT, NOBODY_THERE, AMBIGUOUS_RECIPIENT, NOT_IN_DIRECTORY.
  absl::StatusOr<PeerTarget> Resolve(const DecidedCall& call,
                                     std::string_view to,
                                     std::string_view cwd) const;

  // What is known of one session by its full id, in the caller's scope or its
  // workspace. UNKNOWN_RECIPIENT.
  absl::StatusOr<PeerTarget> Find(const DecidedCall& call,
                                  std::string_view session_id) const;

  // The scope in which a session is, or was last; empty where that is not
  // known.
  absl::StatusOr<std::string> ScopeOf(std::string_view session_id) const;

  // Where a session's host is, or was last; empty where that is not known.
  std::string DirectoryOf(std::string_view session_id) const;

  // For whose reply a session waits, by session ids. Before the first call.
  using WaitsFor =
      std::function<std::vector<std::string>(std::string_view session_id)>;
  void SetWaitsFor(WaitsFor waits_for) { waits_for_ = std::move(waits_for); }

  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListSessionsResponse>)>;
  void ListSessions(CallerEvidence evidence, v1::ListSessionsRequest request,
                    ListDone done);

 private:
  // Sessions that a caller can reach. What candidates show is that of the
  // roster, the call's config, and `rows`: good until the command ends.
  struct Reachable {
    std::vector<PeerCandidate> candidates;
    std::deque<SessionRow> rows;
  };

  // Those that are attached, and the caller's team.
  absl::StatusOr<Reachable> Nearby(const DecidedCall& call) const;
  absl::Status AddTeam(const DecidedCall& call, Reachable& reachable) const;
  // Those that are away and could be who `to` names: by their full id or stable
  // id, which come before the names of those that are attached; `by_name` also
  // by prefix and name.
  absl::Status AddAway(const DecidedCall& call, std::string_view to,
                       bool by_name, Reachable& reachable) const;
  absl::Status AddAwayNamed(const DecidedCall& call, std::string_view to,
                            Reachable& reachable) const;
  // Adds the session of `row` if it is away, of the caller's scope, and not
  // there yet.
  void AddRow(const DecidedCall& call, SessionRow row,
              Reachable& reachable) const;
  bool Sees(const DecidedCall& call, std::string_view scope,
            std::string_view session_id) const;
  // Which config names it; nullptr for none.
  const v1::AgentEntry* EntryOf(const SessionRow& row) const;
  PeerTarget TargetOf(const PeerCandidate& candidate) const;

  absl::StatusOr<v1::ListSessionsResponse> List(
      const DecidedCall& call, const v1::ListSessionsRequest& request) const;
  using ShortIdOf = std::map<std::string, std::string, std::less<>>;
  absl::StatusOr<ShortIdOf> ShortIdsOf(const DecidedCall& call,
                                       Reachable& reachable) const;
  absl::Status AddAwayListed(const DecidedCall& call,
                             Reachable& reachable) const;
  v1::RosterEntry Describe(const PeerCandidate& candidate) const;

  Workspaces& workspaces_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  SessionStore& sessions_;
  RosterView& view_;
  WaitsFor waits_for_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_PEER_DIRECTORY_H_
