#ifndef PI_INTERCOM_BROKER_ROSTER_WORKSPACE_MIRROR_H_
#define PI_INTERCOM_BROKER_ROSTER_WORKSPACE_MIRROR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/config/config_snapshot.h"
#include "broker/storage/state_runner.h"
#include "broker/storage/workspace_store.h"
#include "intercom/v1/envelope.pb.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// A workspace as the broker decides on it: the config's agents under the pinned
// coordinator. Immutable; shared with the commands that were decided on it.
struct Workspace {
  std::string root;
  // Who coordinates, whatever the file says since.
  std::string coordinator_session_id;
  // What the file says, if that is another session: it takes effect only when a
  // person confirms it. Empty otherwise.
  std::string claimed_coordinator_session_id;
  // In the order of the file; the coordinator's entry has the pinned id.
  std::vector<v1::AgentEntry> agents;
  std::string multiplexer;
  std::string config_hash;
  int64_t generation = 0;
  absl::Time mirrored_at;
  // Why the file can't be mirrored now; empty while it can.
  std::string config_error;

  // nullptr without an entry.
  const v1::AgentEntry* EntryOf(std::string_view session_id) const;
  // COORDINATOR, WORKER or ANONYMOUS.
  v1::Role RoleOf(std::string_view session_id) const;
};

// The mirror of every workspace's config in SQLite, and its image in memory.
//
// Apply and the like run inside a command; Find shows what is committed. Not
// thread-safe: everything is called on the state's thread.
class WorkspaceMirror {
 public:
  using OnChanged = absl::AnyInvocable<void(const Workspace&)>;

  // `store` and `clock` must outlive this object.
  WorkspaceMirror(WorkspaceStore& store, const Clock& clock)
      : store_(store), clock_(clock) {}

  // Called after the commit of each change of a workspace, in this order.
  void AddOnChanged(OnChanged on_changed) {
    on_changed_.push_back(std::move(on_changed));
  }

  // Called inside the command that mirrors a config or forgets it, with the
  // sessions that lost their last entry by it and those that got one.
  using OnEntries =
      absl::AnyInvocable<absl::Status(const std::vector<std::string>& gone,
                                      const std::vector<std::string>& added)>;
  void SetOnEntries(OnEntries on_entries) {
    on_entries_ = std::move(on_entries);
  }

  // Loads the last good mirrors: at start, and after a failed commit.
  absl::Status Load();

  // Mirrors `snapshot` where it differs from what is known, and returns the
  // workspace as it now is. `repin`: this broker wrote the coordinator itself.
  absl::StatusOr<std::shared_ptr<const Workspace>> Apply(
      const ConfigSnapshot& snapshot, bool repin, Effects& effects);

  // Marks the mirror stale: its file can't be read for the reason `error`.
  absl::Status MarkStale(std::string_view root, const absl::Status& error,
                         Effects& effects);

  // Forgets a workspace: its agents have no entry any more.
  absl::Status Forget(std::string_view root, Effects& effects);

  // nullptr if the broker does not know the workspace.
  std::shared_ptr<const Workspace> Find(std::string_view root) const;
  // One whose config names that session; nullptr without any.
  std::shared_ptr<const Workspace> FindByAgent(
      std::string_view session_id) const;
  // By root.
  std::vector<std::shared_ptr<const Workspace>> All() const;

 private:
  absl::Status TellEntries(const Workspace& before, const Workspace& after);
  void Install(std::shared_ptr<const Workspace> workspace, Effects& effects);

  WorkspaceStore& store_;
  const Clock& clock_;
  std::vector<OnChanged> on_changed_;
  OnEntries on_entries_;
  absl::flat_hash_map<std::string, std::shared_ptr<const Workspace>> by_root_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROSTER_WORKSPACE_MIRROR_H_
