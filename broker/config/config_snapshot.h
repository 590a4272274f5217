#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_SNAPSHOT_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_SNAPSHOT_H_

#include <memory>
#include <string>

#include "broker/config/workspace_config.h"

namespace intercom {

// The valid config of a workspace at one moment. Immutable, so it is shared
// between threads without a lock.
struct ConfigSnapshot {
  // Canonical.
  std::string root;
  WorkspaceConfig config;
  // config.hash(): changes with every change of the file.
  std::string hash;
  // The file itself.
  std::string bytes = std::string();
};

using ConfigSnapshotPtr = std::shared_ptr<const ConfigSnapshot>;

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_SNAPSHOT_H_
