#ifndef PI_INTERCOM_BROKER_STORAGE_STORE_OPENING_H_
#define PI_INTERCOM_BROKER_STORAGE_STORE_OPENING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/random.h"
#include "broker/storage/database.h"

namespace intercom {

struct OpenedStore {
  std::unique_ptr<Database> db;
  // Random; another one after a damaged database was replaced.
  std::string store_id;
  // Sentences for people: what was damaged, where the old file is now, what was
  // saved from it. Given for a week after the replacement.
  std::vector<std::string> notices;
};

// Opens the broker's database for writing, creates or upgrades it and checks
// it. Blocks for the disk.
//
// Where a check has found damage that opening does not see (SuspectPath), the
// indexes are made anew and all of it is checked. A damaged database is
// replaced: a new one is made beside it, into which every open delivery that
// can still be read is copied with its envelope id, sender, recipient, order
// and times; then the damaged one is moved to
// `<path>.corrupt-<UTC time>` with its -wal, and the new one to its place. A
// crash on the way is made good by the next call. Whatever else goes wrong
// leaves the files alone and is an error: FAILED_PRECONDITION STORE_NEWER, or
// as described at Database. `now` is wall time.
absl::StatusOr<OpenedStore> OpenStore(const std::string& path, absl::Time now,
                                      Random& random);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_STORE_OPENING_H_
