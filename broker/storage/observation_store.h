#ifndef PI_INTERCOM_BROKER_STORAGE_OBSERVATION_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_OBSERVATION_STORE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// What was seen of sessions and done with them, in the order of storing. List
// is for a Reader's connection too, the rest for the writer's, in the caller's
// transaction; errors as described at Database. `db` must outlive this object.
class ObservationStore {
 public:
  explicit ObservationStore(Database& db) : db_(db) {}

  absl::Status Add(const v1::Observation& observation);

  // The newest first; of one session, or with "" of all.
  absl::StatusOr<std::vector<v1::Observation>> List(std::string_view session_id,
                                                    int limit);

  // The session's latest of kind "activity".
  absl::StatusOr<std::optional<v1::Observation>> LastActivity(
      std::string_view session_id);

  // What one takes on disk, and what all do: estimates by lengths. The second
  // reads every row.
  static int64_t BytesOf(const v1::Observation& observation);
  absl::StatusOr<int64_t> Bytes();

  struct Pruned {
    int rows = 0;
    int64_t bytes = 0;
  };
  // Removes at most `limit`, the oldest first: those from before `older_than`,
  // and others until `excess_bytes` are gone.
  absl::StatusOr<Pruned> Prune(absl::Time older_than, int64_t excess_bytes,
                               int limit);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_OBSERVATION_STORE_H_
