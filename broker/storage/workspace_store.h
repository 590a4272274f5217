#ifndef PI_INTERCOM_BROKER_STORAGE_WORKSPACE_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_WORKSPACE_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// The last good mirror of a workspace's config.json.
struct WorkspaceRow {
  // Canonical path.
  std::string root;
  // Pinned; empty until PinCoordinator.
  std::string coordinator_session_id;
  // Counts the different contents mirrored, from 1; 0 before the first.
  int64_t generation = 0;
  std::string config_hash;
  std::string config_json;
  // When the file last was found to agree with the mirror.
  absl::Time mirrored_at = absl::UnixEpoch();
  // Why the file can't be mirrored now; empty while it can. The rest then is
  // stale.
  std::string config_error;
  // In the order of the file.
  std::vector<v1::AgentEntry> agents;
};

// Workspaces by root. Methods run in the caller's transaction, on the thread of
// `db`, which must outlive this object; errors as described at Database.
class WorkspaceStore {
 public:
  explicit WorkspaceStore(Database& db) : db_(db) {}

  // Replaces the mirror of `root` and clears its error. Returns the generation:
  // one more than before, or the same when `config_hash` is unchanged, in
  // which case only `mirrored_at` moves.
  absl::StatusOr<int64_t> Mirror(std::string_view root,
                                 std::string_view config_hash,
                                 std::string_view config_json,
                                 const std::vector<v1::AgentEntry>& agents,
                                 absl::Time now);

  // Keeps the mirror and says why it is stale. Makes the row if need be.
  absl::Status SetError(std::string_view root, std::string_view text);

  // Pins, or with a person's consent changes, who coordinates. Makes the row if
  // need be.
  absl::Status PinCoordinator(std::string_view root,
                              std::string_view session_id);

  absl::StatusOr<std::optional<WorkspaceRow>> Find(std::string_view root);
  // Every workspace, by root.
  absl::StatusOr<std::vector<WorkspaceRow>> All();
  // Roots where no session was seen and whose mirror did not change since
  // `before`, and that have no open job or run. Who is attached now may have
  // been seen long ago.
  absl::StatusOr<std::vector<std::string>> UnusedSince(absl::Time before);

  // Forgets the workspace and its agents. Does nothing for an unknown root.
  absl::Status Remove(std::string_view root);

 private:
  absl::Status ReadAgents(WorkspaceRow& row);
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_WORKSPACE_STORE_H_
