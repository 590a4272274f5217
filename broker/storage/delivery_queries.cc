// The methods of DeliveryStore that only read.
#include <algorithm>
#include <iterator>
#include <utility>

#include "broker/base/status_macros.h"
#include "broker/domain/identity.h"
#include "broker/storage/delivery_row.h"
#include "broker/storage/delivery_store.h"

namespace intercom {
namespace {

constexpr int kReconcileOpen = 64;
constexpr int kReconcileInjected = 64;
constexpr int kReconcileEnded = 64;

constexpr char kFindSql[] = INTERCOM_SELECT_RECORDS
    "FROM envelopes e JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.envelope_id = ? AND e.sender_session_id = ?";

constexpr char kFindStatusSql[] =
    "SELECT d.sequence, d.recipient_session_id, d.state, d.ended, "
    "  d.wait_reason, d.bytes "
    "FROM envelopes e CROSS JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.envelope_id = ? AND e.sender_session_id = ?";

// The upper bound is the prefix with a byte that no id holds.
constexpr char kFindByPrefixSql[] = INTERCOM_SELECT_RECORDS
    "FROM envelopes e JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.envelope_id >= ? AND e.envelope_id < ? "
    "ORDER BY e.envelope_id, e.sender_session_id LIMIT ?";

constexpr char kFindReceivedSql[] = INTERCOM_SELECT_RECORDS
    "FROM envelopes e CROSS JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.envelope_id >= ? AND e.envelope_id < ? "
    "  AND d.recipient_session_id = ? "
    "ORDER BY e.envelope_id, e.sender_session_id LIMIT ?";

constexpr char kLastInjectedOfSql[] = INTERCOM_SELECT_RECORDS
    "FROM (SELECT sequence FROM deliveries WHERE recipient_session_id = ? "
    "    AND state >= 3 ORDER BY sequence DESC LIMIT 1000) l "
    "CROSS JOIN deliveries d ON d.sequence = l.sequence "
    "CROSS JOIN envelopes e ON e.sequence = l.sequence "
    "WHERE e.sender_session_id = ? ORDER BY e.sequence DESC LIMIT 1";

constexpr char kNextOpenSql[] = INTERCOM_SELECT_RECORDS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.recipient_session_id = ? AND d.state < 3 AND d.ended = 0 "
    "  AND d.sequence > ? ORDER BY d.sequence LIMIT ?";

constexpr char kLastInjectedSql[] = INTERCOM_SELECT_RECORDS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.recipient_session_id = ? AND d.state >= 3 "
    "ORDER BY d.sequence DESC LIMIT ?";

constexpr char kLastEndedSql[] = INTERCOM_SELECT_RECORDS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.recipient_session_id = ? AND d.state < 3 AND d.ended > 0 "
    "ORDER BY d.sequence DESC LIMIT ?";

constexpr char kHasNoticeSql[] =
    "SELECT 1 FROM envelopes e "
    "CROSS JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.recipient_session_id = ? AND e.topic = ? AND e.topic <> '' "
    "  AND e.sender_session_id = ? AND e.kind = ? "
    "  AND d.recipient_session_id = e.recipient_session_id "
    "  AND (d.state >= 3 OR d.ended = 0) LIMIT 1";

constexpr char kLastSequenceSql[] =
    "SELECT COALESCE(MAX(sequence), 0) FROM envelopes";

constexpr char kOpenToSql[] = INTERCOM_SELECT_RECORDS
    "FROM envelopes e CROSS JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.recipient_session_id = ? AND e.topic = ? AND e.topic <> '' "
    "  AND e.sender_session_id = ? AND e.kind = ? "
    "  AND d.recipient_session_id = e.recipient_session_id "
    "  AND d.state < 3 AND d.ended = 0 ORDER BY e.sequence";

constexpr char kSupersededSql[] = INTERCOM_SELECT_RECORDS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.recipient_session_id = ? AND d.state < 3 AND d.ended = 0 "
    "  AND EXISTS (SELECT 1 FROM envelopes n "
    "    WHERE n.sender_session_id = e.sender_session_id "
    "      AND n.supersedes = e.envelope_id AND n.supersedes <> '') "
    "ORDER BY d.sequence";

constexpr char kExpiredSql[] = INTERCOM_SELECT_RECORDS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.state < 3 AND d.ended = 0 AND d.expires_at_us > 0 "
    "  AND d.expires_at_us <= ? AND (d.expires_at_us, d.sequence) > (?, ?) "
    "ORDER BY d.expires_at_us, d.sequence LIMIT ?";

}  // namespace

absl::StatusOr<std::optional<v1::DeliveryRecord>> DeliveryStore::Find(
    std::string_view delivery_id) {
  const auto id = ParseDeliveryId(delivery_id);
  if (!id.has_value()) return std::nullopt;
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(id->envelope_id, id->sender_session_id);
  INTERCOM_ASSIGN_OR_RETURN(auto records, ReadRecords(find));
  if (records.empty()) return std::nullopt;
  return std::move(records.front());
}

absl::StatusOr<std::optional<DeliveryStatus>> DeliveryStore::FindStatus(
    std::string_view delivery_id) {
  const auto id = ParseDeliveryId(delivery_id);
  if (!id.has_value()) return std::nullopt;
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindStatusSql));
  find.Bind(id->envelope_id, id->sender_session_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return std::nullopt;
  DeliveryStatus status;
  status.sequence = find.Int64(0);
  status.recipient_session_id = find.String(1);
  status.state = static_cast<v1::DeliveryState>(find.Int(2));
  status.end = static_cast<v1::DeliveryEnd>(find.Int(3));
  status.wait_reason = static_cast<v1::WaitReason>(find.Int(4));
  status.bytes = find.Int64(5);
  return status;
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::FindByIdPrefix(
    std::string_view prefix, int limit) {
  if (prefix.empty()) return std::vector<v1::DeliveryRecord>();
  INTERCOM_ASSIGN_OR_RETURN(auto exact, Find(prefix));
  if (exact.has_value()) {
    return std::vector<v1::DeliveryRecord>{*std::move(exact)};
  }
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindByPrefixSql));
  find.Bind(prefix, std::string(prefix) + "\x7f", limit);
  return ReadRecords(find);
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::FindReceived(
    std::string_view recipient, std::string_view prefix, int limit) {
  if (prefix.empty()) return std::vector<v1::DeliveryRecord>();
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindReceivedSql));
  find.Bind(prefix, std::string(prefix) + "\x7f", recipient, limit);
  return ReadRecords(find);
}

absl::StatusOr<std::optional<v1::DeliveryRecord>> DeliveryStore::LastInjected(
    std::string_view recipient, std::string_view sender_session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kLastInjectedOfSql));
  find.Bind(recipient, sender_session_id);
  INTERCOM_ASSIGN_OR_RETURN(auto records, ReadRecords(find));
  if (records.empty()) return std::nullopt;
  return std::move(records.front());
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::NextOpen(
    std::string_view recipient, int64_t after_sequence, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement next, db_.Prepare(kNextOpenSql));
  next.Bind(recipient, after_sequence, limit);
  return ReadRecords(next);
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::OpenTo(
    std::string_view recipient, v1::EnvelopeKind kind, std::string_view topic,
    std::string_view sender_session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement open, db_.Prepare(kOpenToSql));
  open.Bind(recipient, topic, sender_session_id, kind);
  return ReadRecords(open);
}

absl::StatusOr<bool> DeliveryStore::HasNotice(
    std::string_view recipient, std::string_view topic,
    std::string_view sender_session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement has, db_.Prepare(kHasNoticeSql));
  has.Bind(recipient, topic, sender_session_id, v1::ENVELOPE_KIND_NOTICE);
  return has.Step();
}

absl::StatusOr<int64_t> DeliveryStore::LastSequence() {
  INTERCOM_ASSIGN_OR_RETURN(Statement last, db_.Prepare(kLastSequenceSql));
  last.Bind();
  INTERCOM_RETURN_IF_ERROR(last.Step().status());
  return last.Int64(0);
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::ToReconcile(
    std::string_view recipient) {
  INTERCOM_ASSIGN_OR_RETURN(auto records,
                            NextOpen(recipient, 0, kReconcileOpen));
  INTERCOM_ASSIGN_OR_RETURN(Statement last, db_.Prepare(kLastInjectedSql));
  last.Bind(recipient, kReconcileInjected);
  INTERCOM_ASSIGN_OR_RETURN(auto injected, ReadRecords(last));
  records.insert(records.end(), std::make_move_iterator(injected.begin()),
                 std::make_move_iterator(injected.end()));
  INTERCOM_ASSIGN_OR_RETURN(Statement last_ended, db_.Prepare(kLastEndedSql));
  last_ended.Bind(recipient, kReconcileEnded);
  INTERCOM_ASSIGN_OR_RETURN(auto ended, ReadRecords(last_ended));
  records.insert(records.end(), std::make_move_iterator(ended.begin()),
                 std::make_move_iterator(ended.end()));
  std::sort(records.begin(), records.end(), [](const auto& a, const auto& b) {
    return a.sequence() < b.sequence();
  });
  return records;
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::Superseded(
    std::string_view recipient) {
  INTERCOM_ASSIGN_OR_RETURN(Statement superseded, db_.Prepare(kSupersededSql));
  superseded.Bind(recipient);
  return ReadRecords(superseded);
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> DeliveryStore::ExpiredBefore(
    absl::Time now, int limit, const ExpiryCursor& after) {
  INTERCOM_ASSIGN_OR_RETURN(Statement expired, db_.Prepare(kExpiredSql));
  expired.Bind(now, after.expires_at, after.sequence, limit);
  return ReadRecords(expired);
}

}  // namespace intercom
