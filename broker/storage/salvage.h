#ifndef PI_INTERCOM_BROKER_STORAGE_SALVAGE_H_
#define PI_INTERCOM_BROKER_STORAGE_SALVAGE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "broker/storage/database.h"

namespace intercom {

struct Salvaged {
  // Open deliveries copied.
  int64_t deliveries = 0;
  // Those among them whose state can't be read: they may have been delivered
  // before, and are open now rather than lost.
  int64_t of_unknown_state = 0;
  // Open deliveries that are known of but can't be read.
  int64_t lost = 0;
};

// Copies from the damaged database at `path`, which nobody has open, what
// can be read of: open deliveries, pinned coordinators, the place of each
// session, jobs, handoffs, reports, asks, states of channels, runs and notes.
// `fresh` is migrated and empty, the caller has a transaction on it. Damage is
// skipped row by row; an error is one of `fresh`, described at Database.
absl::StatusOr<Salvaged> Salvage(const std::string& path, Database& fresh);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_SALVAGE_H_
