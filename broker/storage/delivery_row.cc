#include "broker/storage/delivery_row.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/storage/mailbox_store.h"

namespace intercom {
namespace {

constexpr char kLoadSql[] =
    "SELECT recipient_session_id, state, ended, wait_reason, bytes, "
    "  waiting_since_at_us, ended_at_us, end_evidence, settled_at_us, "
    "  accepted_evidence, delivered_at_us, delivered_evidence, "
    "  injected_at_us, injected_evidence, seen_at_us, seen_evidence, "
    "  replied_at_us, replied_evidence "
    "FROM deliveries WHERE sequence = ?";

constexpr char kSaveSql[] =
    "UPDATE deliveries SET state = ?, ended = ?, wait_reason = ?, "
    "  waiting_since_at_us = ?, ended_at_us = ?, "
    "  end_evidence = ?, settled_at_us = ?, accepted_evidence = ?, "
    "  delivered_at_us = ?, delivered_evidence = ?, injected_at_us = ?, "
    "  injected_evidence = ?, seen_at_us = ?, seen_evidence = ?, "
    "  replied_at_us = ?, replied_evidence = ? "
    "WHERE sequence = ?";

constexpr int64_t kMicrosPerSecond = 1'000'000;

void AddMark(v1::DeliveryState state, int64_t at_us, std::string_view evidence,
             v1::DeliveryRecord& record) {
  v1::DeliveryMark& mark = *record.add_marks();
  mark.set_state(state);
  SetMicros(at_us, mark.mutable_at());
  mark.set_evidence(std::string(evidence));
}

void FillRecord(const Statement& row, v1::DeliveryRecord& record) {
  record.set_delivery_id(DeliveryId(row.Text(1), row.Text(2)));
  record.set_sequence(row.Int64(0));

  v1::Envelope& envelope = *record.mutable_envelope();
  envelope.set_envelope_id(row.String(2));
  envelope.set_kind(static_cast<v1::EnvelopeKind>(row.Int(3)));
  envelope.set_topic(row.String(4));
  envelope.set_reply_to(row.String(5));
  envelope.set_quiet(row.Bool(6));
  envelope.set_supersedes(row.String(7));
  envelope.set_text(row.String(16));
  SetExtras(row, 32, envelope);

  v1::Sender& sender = *record.mutable_sender();
  sender.set_session_id(row.String(1));
  sender.set_name(row.String(8));
  sender.set_origin(static_cast<v1::Origin>(row.Int(9)));
  sender.set_role(static_cast<v1::Role>(row.Int(10)));
  sender.set_workspace_root(row.String(11));

  record.set_recipient_session_id(row.String(35));
  if (row.Text(35) != row.Text(12)) {
    record.set_addressed_session_id(row.String(12));
  }
  record.set_recipient_name(row.String(13));
  if (row.Int64(15) != 0) {
    SetMicros(row.Int64(15), record.mutable_expires_at());
  }

  record.set_state(static_cast<v1::DeliveryState>(row.Int(17)));
  record.set_wait_reason(static_cast<v1::WaitReason>(row.Int(18)));
  if (row.Int64(19) != 0) {
    SetMicros(row.Int64(19), record.mutable_waiting_since());
  }
  record.set_end(static_cast<v1::DeliveryEnd>(row.Int(20)));
  if (row.Int64(21) != 0) SetMicros(row.Int64(21), record.mutable_ended_at());
  record.set_end_evidence(row.String(22));

  AddMark(v1::DELIVERY_STATE_ACCEPTED, row.Int64(14), row.Text(23), record);
  for (int state = v1::DELIVERY_STATE_DELIVERED;
       state <= v1::DELIVERY_STATE_REPLIED; ++state) {
    const int column = 24 + 2 * (state - v1::DELIVERY_STATE_DELIVERED);
    if (row.Int64(column) == 0) continue;
    AddMark(static_cast<v1::DeliveryState>(state), row.Int64(column),
            row.Text(column + 1), record);
  }
}

}  // namespace

void DeliveryRow::ClearWait() {
  wait_reason = v1::WAIT_REASON_UNSPECIFIED;
  waiting_since_at_us = 0;
}

void DeliveryRow::ClearEnd() {
  end = v1::DELIVERY_END_UNSPECIFIED;
  ended_at_us = 0;
  end_evidence.clear();
}

absl::StatusOr<DeliveryRow> LoadDelivery(Database& db, int64_t sequence) {
  INTERCOM_ASSIGN_OR_RETURN(Statement load, db.Prepare(kLoadSql));
  load.Bind(sequence);
  INTERCOM_ASSIGN_OR_RETURN(const bool found, load.Step());
  if (!found) {
    return Error(absl::StatusCode::kNotFound, "DELIVERY_UNKNOWN",
                 absl::StrCat("no delivery has the sequence ", sequence));
  }
  DeliveryRow row;
  row.sequence = sequence;
  row.recipient_session_id = load.String(0);
  row.state = static_cast<v1::DeliveryState>(load.Int(1));
  row.end = static_cast<v1::DeliveryEnd>(load.Int(2));
  row.wait_reason = static_cast<v1::WaitReason>(load.Int(3));
  row.bytes = load.Int64(4);
  row.waiting_since_at_us = load.Int64(5);
  row.ended_at_us = load.Int64(6);
  row.end_evidence = load.String(7);
  row.settled_at_us = load.Int64(8);
  row.accepted_evidence = load.String(9);
  int column = 10;
  for (DeliveryRow::Reached& reached : row.reached) {
    reached.at_us = load.Int64(column++);
    reached.evidence = load.String(column++);
  }
  return row;
}

absl::Status SaveDelivery(Database& db, const DeliveryRow& before,
                          const DeliveryRow& after) {
  INTERCOM_ASSIGN_OR_RETURN(Statement save, db.Prepare(kSaveSql));
  const auto& [delivered, injected, seen, replied] = after.reached;
  save.Bind(after.state, after.end, after.wait_reason,
            after.waiting_since_at_us, after.ended_at_us, after.end_evidence,
            after.settled_at_us, after.accepted_evidence, delivered.at_us,
            delivered.evidence, injected.at_us, injected.evidence, seen.at_us,
            seen.evidence, replied.at_us, replied.evidence, after.sequence);
  INTERCOM_RETURN_IF_ERROR(save.Run());
  if (before.open() == after.open()) return absl::OkStatus();
  const int sign = after.open() ? 1 : -1;
  return MailboxStore(db).Add(after.recipient_session_id, sign,
                              sign * after.bytes);
}

void SetExtras(const Statement& row, int column, v1::Envelope& envelope) {
  envelope.set_retry_of(row.String(column));
  // Bytes of our own: those that can't be read are of a damaged file. The text
  // stands all the same.
  v1::Envelope attached;
  if (attached.ParseFromString(row.String(column + 1))) {
    envelope.mutable_attachments()->Swap(attached.mutable_attachments());
  }
  if (const int64_t within_us = row.Int64(column + 2); within_us != 0) {
    *envelope.mutable_reply_within() =
        ToProtoDuration(absl::Microseconds(within_us));
  }
}

absl::StatusOr<bool> ReadRecord(Statement& statement,
                                v1::DeliveryRecord& record) {
  INTERCOM_ASSIGN_OR_RETURN(const bool row, statement.Step());
  if (row) FillRecord(statement, record);
  return row;
}

absl::StatusOr<std::vector<v1::DeliveryRecord>> ReadRecords(
    Statement& statement) {
  std::vector<v1::DeliveryRecord> records;
  while (true) {
    v1::DeliveryRecord record;
    INTERCOM_ASSIGN_OR_RETURN(const bool read, ReadRecord(statement, record));
    if (!read) return records;
    records.push_back(std::move(record));
  }
}

void SetMicros(int64_t micros, google::protobuf::Timestamp* at) {
  int64_t seconds = micros / kMicrosPerSecond;
  int64_t rest = micros % kMicrosPerSecond;
  if (rest < 0) {
    --seconds;
    rest += kMicrosPerSecond;
  }
  at->set_seconds(seconds);
  at->set_nanos(static_cast<int32_t>(rest * 1000));
}

}  // namespace intercom
