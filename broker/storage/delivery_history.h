#ifndef PI_INTERCOM_BROKER_STORAGE_DELIVERY_HISTORY_H_
#define PI_INTERCOM_BROKER_STORAGE_DELIVERY_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// Which deliveries to list; empty fields do not restrict.
struct HistoryFilter {
  // Sender or recipient.
  std::string session_id = {};
  // The sender's workspace, or the one where the recipient last attached.
  std::string workspace_root = {};
  // Only smaller sequences; 0: from the newest.
  int64_t before_sequence = 0;
  int limit = 50;
  // A page ends after the delivery with which its texts exceed this.
  int64_t max_text_bytes = 1 << 20;
};

struct HistoryPage {
  // Newest first.
  std::vector<v1::DeliveryRecord> records;
  // Whether older ones may follow.
  bool more = false;
};

// Reads and prunes the deliveries of the past. List is for a Reader's
// connection, Prune for the writer's, in the caller's transaction; errors as
// described at Database. `db` must outlive this object.
class DeliveryHistory {
 public:
  explicit DeliveryHistory(Database& db) : db_(db) {}

  absl::StatusOr<HistoryPage> List(const HistoryFilter& filter);

  // Removes at most `limit` settled deliveries (injected or ended), oldest
  // settlement first: those settled before `older_than`, and others while the
  // database without its open mail takes more than `max_bytes`. Never an open
  // one, never the one with the greatest sequence, which sequences go on
  // from. Returns how many were removed; `limit` means that there may be more.
  absl::StatusOr<int> Prune(absl::Time older_than, int64_t max_bytes,
                            int limit);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_DELIVERY_HISTORY_H_
