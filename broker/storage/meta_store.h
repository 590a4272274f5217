#ifndef PI_INTERCOM_BROKER_STORAGE_META_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_META_STORE_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/base/random.h"
#include "broker/storage/database.h"

namespace intercom {

// Facts of the store as a whole: a small map of text. Methods run in the
// caller's transaction, on the thread of `db`, which must outlive this object;
// errors as described at Database.
class MetaStore {
 public:
  explicit MetaStore(Database& db) : db_(db) {}

  // The random id of this store, made at the first call. Sequences of stores
  // with different ids do not compare.
  absl::StatusOr<std::string> StoreId(Random& random);

  // nullopt when the key was never set.
  absl::StatusOr<std::optional<std::string>> Get(std::string_view key);
  absl::Status Set(std::string_view key, std::string_view value);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_META_STORE_H_
