#ifndef PI_INTERCOM_BROKER_STORAGE_CHANNEL_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_CHANNEL_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"

namespace intercom {

// What a channel is known by.
struct ChannelKey {
  std::string scope;
  std::string name_space;

  friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
};

// The state of one channel.
struct ChannelRow {
  // From 1.
  int64_t revision = 0;
  // Opaque.
  std::string payload;
  // Session id.
  std::string committed_by;
  absl::Time committed_at;
};

// A state without its payload.
struct ChannelStateSize {
  ChannelKey key;
  int64_t revision = 0;
  int64_t bytes = 0;
};

// The states of channels. Methods run in the caller's transaction, on the
// thread of `db`, which must outlive this object; errors as described at
// Database.
class ChannelStore {
 public:
  explicit ChannelStore(Database& db) : db_(db) {}

  // nullopt where nothing was committed.
  absl::StatusOr<std::optional<ChannelRow>> Find(const ChannelKey& key);

  // 0 where nothing was committed.
  absl::StatusOr<int64_t> Revision(const ChannelKey& key);

  // Stores `row` over the earlier state.
  absl::Status Save(const ChannelKey& key, const ChannelRow& row);

  absl::StatusOr<int64_t> Count();

  // By scope, then by namespace.
  absl::StatusOr<std::vector<ChannelStateSize>> List();

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_CHANNEL_STORE_H_
