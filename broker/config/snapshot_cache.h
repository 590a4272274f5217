#ifndef PI_INTERCOM_BROKER_CONFIG_SNAPSHOT_CACHE_H_
#define PI_INTERCOM_BROKER_CONFIG_SNAPSHOT_CACHE_H_

#include <functional>
#include <optional>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/config/config_file.h"
#include "broker/config/config_snapshot.h"

namespace intercom {

// Where a read takes the time from, and how it waits.
struct ReadTiming {
  // Wall time.
  std::function<absl::Time()> now;
  // Waits that long; false if there is no point in going on.
  std::function<bool(absl::Duration)> pause;
};

// Reads and parses the file. A file that breaks a rule and was modified less
// than a second ago is read once more after a short pause: an editor may be
// writing it.
absl::StatusOr<ReadConfig> ReadFresh(const ConfigFile& file,
                                     const ReadTiming& timing);

// The last snapshot of one workspace, so that an unchanged file is not read
// again. Not thread-safe: belongs to the lane of its workspace.
class SnapshotCache {
 public:
  // The present snapshot: from memory if the file is unchanged for sure, else
  // read again. The same pointer as long as the content is the same. Errors
  // are those of ConfigFile::Read.
  absl::StatusOr<ConfigSnapshotPtr> Refresh(const ConfigFile& file,
                                            const ReadTiming& timing);

  // The snapshot of what was read by somebody else at `hashed_at`.
  ConfigSnapshotPtr Store(const ConfigFile& file, ReadConfig read,
                          absl::Time hashed_at);

 private:
  ConfigSnapshotPtr snapshot_;
  // Set only when the file was old enough at hashing for an equal identity to
  // prove equal content.
  std::optional<FileIdentity> trusted_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_SNAPSHOT_CACHE_H_
