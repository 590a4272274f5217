#ifndef PI_INTERCOM_BROKER_STORAGE_DELIVERY_ROW_H_
#define PI_INTERCOM_BROKER_STORAGE_DELIVERY_ROW_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/domain/identity.h"
#include "broker/storage/database.h"
#include "broker/storage/delivery_store.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// A row of `deliveries`. Times are microseconds, 0 for none. For this room
// only.
struct DeliveryRow : DeliveryStatus {
  struct Reached {
    int64_t at_us = 0;
    std::string evidence;
  };

  int64_t waiting_since_at_us = 0;
  int64_t ended_at_us = 0;
  std::string end_evidence;
  int64_t settled_at_us = 0;
  std::string accepted_evidence;
  // DELIVERED, INJECTED, SEEN, REPLIED.
  std::array<Reached, 4> reached;

  void ClearWait();
  void ClearEnd();
};

// NOT_FOUND DELIVERY_UNKNOWN when there is no such row.
absl::StatusOr<DeliveryRow> LoadDelivery(Database& db, int64_t sequence);

// Stores what `after` changed of `before` and moves the mailbox's counters
// when it opens or closes the delivery.
absl::Status SaveDelivery(Database& db, const DeliveryRow& before,
                          const DeliveryRow& after);

// Begins a query for ReadRecords: deliveries `d` with their envelopes `e`.
#define INTERCOM_SELECT_RECORDS                                              \
  "SELECT e.sequence, e.sender_session_id, e.envelope_id, e.kind, e.topic, " \
  "  e.reply_to, e.quiet, e.supersedes, e.sender_name, e.sender_origin, "    \
  "  e.sender_role, e.sender_workspace_root, e.recipient_session_id, "       \
  "  e.recipient_name, e.accepted_at_us, d.expires_at_us, e.text, d.state, " \
  "  d.wait_reason, d.waiting_since_at_us, d.ended, d.ended_at_us, "         \
  "  d.end_evidence, d.accepted_evidence, "                                  \
  "  d.delivered_at_us, d.delivered_evidence, d.injected_at_us, "            \
  "  d.injected_evidence, d.seen_at_us, d.seen_evidence, d.replied_at_us, "  \
  "  d.replied_evidence, e.retry_of, e.attachments, e.reply_within_us, "     \
  "  d.recipient_session_id "

// Sets what the columns retry_of, attachments and reply_within_us from `column`
// on hold.
void SetExtras(const Statement& row, int column, v1::Envelope& envelope);

// Reads the next row of `statement`, which is bound; false at its end.
absl::StatusOr<bool> ReadRecord(Statement& statement,
                                v1::DeliveryRecord& record);

// Runs `statement` to its end.
absl::StatusOr<std::vector<v1::DeliveryRecord>> ReadRecords(
    Statement& statement);

// Sets `at` to `micros`.
void SetMicros(int64_t micros, google::protobuf::Timestamp* at);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_DELIVERY_ROW_H_
