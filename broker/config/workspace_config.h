#ifndef PI_INTERCOM_BROKER_CONFIG_WORKSPACE_CONFIG_H_
#define PI_INTERCOM_BROKER_CONFIG_WORKSPACE_CONFIG_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "intercom/v1/roster.pb.h"

namespace intercom {

// The content of a workspace's config.json that passed every rule. An immutable
// value: copies are independent, reading is thread-safe.
class WorkspaceConfig {
 public:
  // FAILED_PRECONDITION with reason CONFIG_INVALID when `bytes` are not a
  // config. The message starts with `path` and names line and column of a
  // syntax error, or the JSON pointer of what breaks a rule.
  static absl::StatusOr<WorkspaceConfig> Parse(std::string_view bytes,
                                               std::string_view path);

  // Whether a config may name it as what launches workers.
  static bool IsMultiplexer(std::string_view name);

  // All entries in the order of the file, with `entry_hash`.
  const std::vector<v1::AgentEntry>& agents() const { return agents_; }

  const v1::AgentEntry& coordinator() const { return agents_[coordinator_]; }

  // The entry with that name in any case, or that session id; null if there is
  // none. Valid as long as this object.
  const v1::AgentEntry* FindByName(std::string_view name) const;
  const v1::AgentEntry* FindBySession(std::string_view session_id) const;

  // What launches workers: herdr, tmux, none or headless.
  const std::string& multiplexer() const { return multiplexer_; }

  // Of the bytes parsed: equal for equal files, across processes.
  const std::string& hash() const { return hash_; }

 private:
  WorkspaceConfig() = default;

  std::vector<v1::AgentEntry> agents_;
  size_t coordinator_ = 0;
  std::string multiplexer_;
  std::string hash_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_WORKSPACE_CONFIG_H_
