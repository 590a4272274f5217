#ifndef PI_INTERCOM_BROKER_STORAGE_MAILBOX_STORE_H_
#define PI_INTERCOM_BROKER_STORAGE_MAILBOX_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/storage/database.h"

namespace intercom {

// What waits for one recipient.
struct Mailbox {
  std::string recipient_session_id;
  int64_t envelopes = 0;
  int64_t bytes = 0;
  // When the oldest of them was accepted. Unset when there is none.
  std::optional<absl::Time> oldest_at;
};

// Counters of open deliveries by recipient, which DeliveryStore keeps in the
// same transaction. Methods run on the thread of `db`, which must outlive this
// object; errors as described at Database.
class MailboxStore {
 public:
  explicit MailboxStore(Database& db) : db_(db) {}

  // The mailbox of `recipient`, empty if it never had mail.
  absl::StatusOr<Mailbox> Find(std::string_view recipient);

  // Every mailbox that holds envelopes, by recipient.
  absl::StatusOr<std::vector<Mailbox>> All();

  // How many envelopes wait for each recipient that has any.
  absl::StatusOr<absl::flat_hash_map<std::string, int64_t>> Counts();

  // For DeliveryStore: adds, or with negative numbers takes away.
  absl::Status Add(std::string_view recipient, int64_t envelopes,
                   int64_t bytes);

 private:
  Database& db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_MAILBOX_STORE_H_
