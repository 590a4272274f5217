#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_LANES_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_LANES_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/base/task_runner.h"
#include "broker/config/config_file.h"
#include "broker/config/config_snapshot.h"
#include "broker/config/discovery.h"
#include "broker/config/file_system.h"
#include "broker/config/lane_pool.h"

namespace intercom {

// What Open found or made.
struct OpenedWorkspace {
  Discovery discovery;
  // Set if and only if discovery.kind is kFound.
  ConfigSnapshotPtr snapshot;
  // Whether this call created the config: its session is the coordinator.
  bool created = false;
};

// All work on config files, off the caller's thread: a serial lane per
// workspace, and one per directory for discovery, so that a file system that
// hangs stalls only its own workspaces.
//
// Thread-safe; no call blocks. Every callback is called exactly once, on the
// reply runner, with at the latest after the deadline DEADLINE_EXCEEDED
// (CONFIG_TIMEOUT); what a lane finds later is dropped. RESOURCE_EXHAUSTED
// (LANES_FULL) if too many directories or calls are under way. Other errors are
// those of ConfigFile. Roots are canonical.
class ConfigLanes {
 public:
  template <typename T>
  using Callback = absl::AnyInvocable<void(absl::StatusOr<T>)>;
  // Makes the new bytes from those read. Pure, or nearly: runs in the lane,
  // must not block, and must not touch what may be gone when this object is.
  using Edit =
      std::function<absl::StatusOr<std::string>(const ReadConfig& read)>;
  // The last word right before publication; as Edit.
  using Guard = std::function<absl::Status()>;

  // `reply_runner` and `clock` must outlive this object.
  ConfigLanes(TaskRunner& reply_runner, const Clock& clock,
              std::shared_ptr<FileSystem> files, LaneOptions options = {});
  // Answers open calls with UNAVAILABLE (SHUTTING_DOWN), still on the runner.
  // Does not wait for a file system.
  ~ConfigLanes();
  ConfigLanes(const ConfigLanes&) = delete;
  ConfigLanes& operator=(const ConfigLanes&) = delete;

  // The config as it is on disk after this call. Calls that wait together are
  // answered by one read; the pointer is the same while the content is.
  void Snapshot(const std::string& root, Callback<ConfigSnapshotPtr> done);

  // Discovers the workspace of a session. In mode auto, when there is none,
  // creates a config with `session_id` as coordinator; of several contenders
  // exactly one creates, and all get the same config.
  void Open(DiscoveryRequest request, std::string session_id, int port,
            Callback<OpenedWorkspace> done);

  // Discovers the workspace of a directory without looking into its config.
  void FindRoot(DiscoveryRequest request, Callback<Discovery> done);

  // Reads, edits, validates and publishes, one update of a workspace at a time,
  // and answers with the new config. Equal bytes publish nothing and do not
  // ask `guard` (which may be null). An error of `edit` or `guard` is passed
  // on. INVALID_ARGUMENT (EDIT_INVALID): the result is no valid config. After
  // DEADLINE_EXCEEDED it is unknown whether the change was published.
  void Update(const std::string& root, Edit edit, Guard guard,
              Callback<ConfigSnapshotPtr> done);

  // CheckProjectDirectory in the lane of `root`.
  void CheckDirectory(const std::string& root, std::string relative,
                      Callback<std::string> done);

 private:
  struct State;
  const std::shared_ptr<State> state_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_LANES_H_
