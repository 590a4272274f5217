#ifndef PI_INTERCOM_BROKER_DOMAIN_RESOLVE_PEER_H_
#define PI_INTERCOM_BROKER_DOMAIN_RESOLVE_PEER_H_

#include <cstddef>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// Pure rules of who is called how beyond a workspace.

// A session that a sender can reach. What the views show is kept elsewhere.
struct PeerCandidate {
  std::string_view session_id;
  // The configured name, else its own. Blank: it is unnamed.
  std::string_view name = {};
  // Another name that it is found by: a coordinator's own.
  std::string_view own_name = {};
  std::string_view stable_id = {};
  std::string_view workspace_root = {};
  // Canonical; empty where it is not known.
  std::string_view cwd = {};
  v1::Presence presence = v1::PRESENCE_AWAY;
  // A configured session of the sender's own workspace.
  bool is_of_team = false;
  // Of one that is away.
  absl::Time last_seen = absl::InfinitePast();

  bool is_attached() const { return presence == v1::PRESENCE_ATTACHED; }
};

// Whom a sender names.
struct PeerQuery {
  std::string_view to;
  // Empty: anywhere.
  std::string_view cwd = {};
  // The sender itself; empty for persons and clients.
  std::string_view self = {};
};

// The place in `candidates` of the one that `query` names. `to` without white
// space at its ends is, in this order: a full session id; a stable id (of who
// holds it, else who had it last); the name of a team member; of those that are
// attached, a name, a runtime name, a unique prefix of an id,
// `Name@directory`, or what a name is shown as; of those that are not, the same
// but for runtime names. The
// directory is an absolute path, or the last part of one, of a workspace's root
// or a session's directory. Names count regardless of case, ids in theirs.
//
// What several share is refused, with two exceptions: where a name fits the
// sender too, the other is meant; of sessions that are away and had the same
// name in the same directory, the one seen last. An empty `to` with `cwd` is
// the sole other session attached there; a `to` with `cwd` must be there.
//
// The order of the candidates decides nothing but that of lists in errors.
//
// INVALID_ARGUMENT: TARGET_EMPTY, SELF_TARGET, DIRECTORY_INVALID (`cwd` is not
// absolute). NOT_FOUND: UNKNOWN_RECIPIENT, NOBODY_THERE; the message lists 20
// of those that are attached. FAILED_PRECONDITION: AMBIGUOUS_RECIPIENT, listing
// the candidates with what tells them apart; NOT_IN_DIRECTORY.
absl::StatusOr<size_t> ResolvePeer(
    const PeerQuery& query, const std::vector<PeerCandidate>& candidates);

// `directory` without slashes at its end.
std::string_view WithoutTrailingSlash(std::string_view directory);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_RESOLVE_PEER_H_
