#ifndef PI_INTERCOM_BROKER_WORK_PEER_DIRECTORY_H_
#define PI_INTERCOM_BROKER_WORK_PEER_DIRECTORY_H_

#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
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

  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListSessionsResponse>)>;
  void ListSessions(CallerEvidence evidence, v1::ListSessionsRequest request,
                    ListDone done);

 private:
  Workspaces& workspaces_;
  WorkspaceMirror& mirror_;
  Roster& roster_;
  SessionStore& sessions_;
  RosterView& view_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_PEER_DIRECTORY_H_
