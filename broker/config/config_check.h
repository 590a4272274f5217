#ifndef PI_INTERCOM_BROKER_CONFIG_CONFIG_CHECK_H_
#define PI_INTERCOM_BROKER_CONFIG_CONFIG_CHECK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "broker/config/config_snapshot.h"
#include "intercom/v1/workspace.pb.h"

namespace intercom {

// What a person should know of a config, as v1::ConfigFinding tells it. Pure.

// Of a valid one: warnings and notes.
std::vector<v1::ConfigFinding> FindingsOf(const ConfigSnapshot& snapshot);

// Whether the reading of a config failed for what is on disk, and not by
// chance.
bool IsConfigProblem(const absl::Status& status);
// Why a config can't be used.
v1::ConfigFinding ErrorFinding(const absl::Status& status);

// The project directory of the entry at `position` can't be used.
v1::ConfigFinding DirectoryFinding(const std::string& path, int position,
                                   const absl::Status& status);
// It names another coordinator than the one that coordinates.
v1::ConfigFinding CoordinatorFinding(const std::string& path,
                                     const std::string& present,
                                     const std::string& claimed);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_CONFIG_CHECK_H_
