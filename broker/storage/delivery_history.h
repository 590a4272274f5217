#ifndef PI_INTERCOM_BROKER_STORAGE_DELIVERY_HISTORY_H_
#define PI_INTERCOM_BROKER_STORAGE_DELIVERY_HISTORY_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
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
  // In the order of their sequences, not the newest first.
  bool oldest_first = false;
  // Only smaller sequences; with `oldest_first` only greater ones. 0: all.
  int64_t from_sequence = 0;
  int limit = 50;
  // In the text or in an attachment's name, whatever its case.
  std::string containing = {};
  std::set<v1::EnvelopeKind> kinds = {};
  // The furthest state of those that have not ended otherwise.
  std::set<v1::DeliveryState> states = {};
  // How the others ended. Beside `states` either is enough.
  std::set<v1::DeliveryEnd> ends = {};
  // Only those that are neither in their session nor ended.
  bool waiting = false;
  // Accepted at or after, and before.
  std::optional<absl::Time> since = {};
  std::optional<absl::Time> until = {};
  // A page ends after the delivery with which its texts and attachments exceed
  // this.
  int64_t max_text_bytes = 1 << 20;
  // A page ends where so many were looked at, or so many bytes of texts.
  int max_looked_at = 20'000;
  int64_t max_bytes_looked_at = 64 << 20;
};

struct HistoryPage {
  // As the filter orders them.
  std::vector<v1::DeliveryRecord> records;
  // Whether others may follow.
  bool more = false;
  // Of the last that was looked at, where the next page goes on. 0: none was.
  int64_t last_sequence = 0;
};

struct InboxPage {
  // Oldest first.
  std::vector<v1::DeliveryRecord> records;
  // Unread ones that are not among them.
  int64_t left_out = 0;
};

// Reads and prunes the deliveries of the past. The lists are for a Reader's
// connection, Prune for the writer's, in the caller's transaction; errors as
// described at Database. `db` must outlive this object.
class DeliveryHistory {
 public:
  explicit DeliveryHistory(Database& db) : db_(db) {}

  absl::StatusOr<HistoryPage> List(const HistoryFilter& filter);

  // The oldest `limit` unread deliveries to a person; `with_read`: the newest
  // of all that did not end unread. The texts are at most `max_text_bytes`, but
  // for the last.
  absl::StatusOr<InboxPage> ListInbox(std::string_view person, bool with_read,
                                      int limit,
                                      int64_t max_text_bytes = 1 << 20);

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
