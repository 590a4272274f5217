#include "broker/storage/delivery_store.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/storage/delivery_row.h"
#include "broker/storage/mailbox_store.h"
#include "google/protobuf/util/message_differencer.h"

namespace intercom {
namespace {

constexpr char kInsertEnvelopeSql[] =
    "INSERT INTO envelopes (sender_session_id, envelope_id, kind, topic, "
    "  reply_to, quiet, supersedes, sender_name, sender_origin, sender_role, "
    "  sender_workspace_root, recipient_session_id, recipient_name, scope, "
    "  accepted_at_us, expires_at_us, text, retry_of, attachments, "
    "  reply_within_us) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (envelope_id, sender_session_id) DO NOTHING";

constexpr char kInsertDeliverySql[] =
    "INSERT INTO deliveries (sequence, recipient_session_id, state, bytes, "
    "  wait_reason, waiting_since_at_us, ended, ended_at_us, end_evidence, "
    "  expires_at_us, settled_at_us, accepted_evidence, "
    "  delivered_at_us, delivered_evidence, injected_at_us, "
    "  injected_evidence, seen_at_us, seen_evidence, replied_at_us, "
    "  replied_evidence, moved) "
    "VALUES (?, ?, 1, ?, ?, ?, 0, 0, '', ?, 0, ?, "
    "  0, '', 0, '', 0, '', 0, '', 0)";

constexpr char kSetWaitSql[] =
    "UPDATE deliveries SET wait_reason = ?1, waiting_since_at_us = ?2 "
    "WHERE sequence = ?3 AND state < 3 AND ended = 0 AND wait_reason <> ?1";

// The time that belongs to a wait reason: none when it does not wait.
std::optional<absl::Time> WaitingSince(v1::WaitReason reason, absl::Time at) {
  if (reason == v1::WAIT_REASON_UNSPECIFIED) return std::nullopt;
  return at;
}

std::string AttachmentsOf(const v1::Envelope& envelope) {
  v1::Envelope attached;
  *attached.mutable_attachments() = envelope.attachments();
  return attached.SerializeAsString();
}

std::string StoredAs(int64_t sequence) {
  return absl::StrCat("stored as number ", sequence);
}

v1::DeliveryRecord RecordOf(NewDelivery&& delivery, int64_t sequence) {
  const int64_t accepted_at_us = absl::ToUnixMicros(delivery.accepted_at);
  v1::DeliveryRecord record;
  record.set_delivery_id(DeliveryId(delivery.sender.session_id(),
                                    delivery.envelope.envelope_id()));
  record.set_sequence(sequence);
  *record.mutable_envelope() = std::move(delivery.envelope);
  *record.mutable_sender() = std::move(delivery.sender);
  record.set_recipient_session_id(std::move(delivery.recipient_session_id));
  record.set_recipient_name(std::move(delivery.recipient_name));
  record.set_state(v1::DELIVERY_STATE_ACCEPTED);
  v1::DeliveryMark& mark = *record.add_marks();
  mark.set_state(v1::DELIVERY_STATE_ACCEPTED);
  SetMicros(accepted_at_us, mark.mutable_at());
  mark.set_evidence(StoredAs(sequence));
  record.set_wait_reason(delivery.wait_reason);
  if (delivery.wait_reason != v1::WAIT_REASON_UNSPECIFIED) {
    SetMicros(accepted_at_us, record.mutable_waiting_since());
  }
  if (delivery.expires_at.has_value()) {
    SetMicros(absl::ToUnixMicros(*delivery.expires_at),
              record.mutable_expires_at());
  }
  return record;
}

absl::StatusOr<InsertedDelivery> Repeat(
    const NewDelivery& delivery, std::optional<v1::DeliveryRecord> first) {
  if (!first.has_value()) {
    return Error(absl::StatusCode::kDataLoss, "STORAGE_CORRUPT",
                 "an envelope has lost its delivery");
  }
  if (!google::protobuf::util::MessageDifferencer::Equals(first->envelope(),
                                                          delivery.envelope) ||
      AddresseeOf(*first) != delivery.recipient_session_id) {
    return Error(absl::StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED",
                 "the envelope id " + delivery.envelope.envelope_id() +
                     " was used before with other content or another "
                     "recipient: send it under a new id");
  }
  return InsertedDelivery{.record = *std::move(first), .existed = true};
}

DeliveryChange ChangeOf(const DeliveryRow& before, const DeliveryRow& after) {
  return {.before = before,
          .after = after,
          .left_mailbox = before.open() && !after.open()};
}

}  // namespace

const std::string& AddresseeOf(const v1::DeliveryRecord& record) {
  return record.addressed_session_id().empty() ? record.recipient_session_id()
                                               : record.addressed_session_id();
}

DeliveryStatus StatusOf(const v1::DeliveryRecord& record) {
  return {.sequence = record.sequence(),
          .recipient_session_id = record.recipient_session_id(),
          .state = record.state(),
          .end = record.end(),
          .wait_reason = record.wait_reason(),
          .bytes = static_cast<int64_t>(record.envelope().ByteSizeLong())};
}

absl::StatusOr<InsertedDelivery> DeliveryStore::Insert(NewDelivery delivery) {
  const v1::Envelope& envelope = delivery.envelope;
  const v1::Sender& sender = delivery.sender;
  {
    const std::string attachments = AttachmentsOf(envelope);
    INTERCOM_ASSIGN_OR_RETURN(Statement insert,
                              db_.Prepare(kInsertEnvelopeSql));
    insert.Bind(
        sender.session_id(), envelope.envelope_id(), envelope.kind(),
        envelope.topic(), envelope.reply_to(), envelope.quiet(),
        envelope.supersedes(), sender.name(), sender.origin(), sender.role(),
        sender.workspace_root(), delivery.recipient_session_id,
        delivery.recipient_name, delivery.scope, delivery.accepted_at,
        delivery.expires_at, envelope.text(), envelope.retry_of(),
        Blob{attachments},
        absl::ToInt64Microseconds(FromProtoDuration(envelope.reply_within())));
    INTERCOM_RETURN_IF_ERROR(insert.Run());
  }
  if (db_.changes() == 0) {
    INTERCOM_ASSIGN_OR_RETURN(
        auto first,
        Find(DeliveryId(sender.session_id(), envelope.envelope_id())));
    return Repeat(delivery, std::move(first));
  }
  const int64_t sequence = db_.last_insert_rowid();
  const int64_t bytes = static_cast<int64_t>(envelope.ByteSizeLong());
  INTERCOM_ASSIGN_OR_RETURN(Statement insert, db_.Prepare(kInsertDeliverySql));
  insert.Bind(sequence, delivery.recipient_session_id, bytes,
              delivery.wait_reason,
              WaitingSince(delivery.wait_reason, delivery.accepted_at),
              delivery.expires_at, StoredAs(sequence));
  INTERCOM_RETURN_IF_ERROR(insert.Run());
  INTERCOM_RETURN_IF_ERROR(
      MailboxStore(db_).Add(delivery.recipient_session_id, 1, bytes));
  return InsertedDelivery{.record = RecordOf(std::move(delivery), sequence),
                          .existed = false};
}

absl::StatusOr<DeliveryChange> DeliveryStore::Mark(int64_t sequence,
                                                   v1::DeliveryState state,
                                                   absl::Time at,
                                                   std::string_view evidence) {
  INTERCOM_ASSIGN_OR_RETURN(const DeliveryRow before,
                            LoadDelivery(db_, sequence));
  const int index = state - v1::DELIVERY_STATE_DELIVERED;
  if (index < 0 || index >= static_cast<int>(before.reached.size()) ||
      before.reached[index].at_us != 0) {
    return ChangeOf(before, before);
  }
  DeliveryRow after = before;
  after.reached[index] = {.at_us = absl::ToUnixMicros(at),
                          .evidence = std::string(evidence)};
  after.state = std::max(before.state, state);
  if (before.state < v1::DELIVERY_STATE_INJECTED &&
      after.state >= v1::DELIVERY_STATE_INJECTED) {
    after.ClearEnd();
    after.ClearWait();
    after.settled_at_us = absl::ToUnixMicros(at);
  }
  INTERCOM_RETURN_IF_ERROR(SaveDelivery(db_, before, after));
  return ChangeOf(before, after);
}

absl::StatusOr<DeliveryChange> DeliveryStore::MarkUninjected(
    int64_t sequence, absl::Time at, std::string_view evidence) {
  INTERCOM_ASSIGN_OR_RETURN(const DeliveryRow before,
                            LoadDelivery(db_, sequence));
  if (before.state < v1::DELIVERY_STATE_INJECTED) {
    return ChangeOf(before, before);
  }
  DeliveryRow after = before;
  after.state = v1::DELIVERY_STATE_ACCEPTED;
  after.reached = {};
  after.settled_at_us = 0;
  after.accepted_evidence = std::string(evidence) + " (" +
                            absl::FormatTime(at, absl::UTCTimeZone()) + ")";
  INTERCOM_RETURN_IF_ERROR(SaveDelivery(db_, before, after));
  return ChangeOf(before, after);
}

absl::Status DeliveryStore::SetWait(int64_t sequence, v1::WaitReason reason,
                                    absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(Statement set, db_.Prepare(kSetWaitSql));
  set.Bind(reason, WaitingSince(reason, at), sequence);
  INTERCOM_RETURN_IF_ERROR(set.Run());
  if (db_.changes() > 0) return absl::OkStatus();
  return LoadDelivery(db_, sequence).status();
}

absl::Status DeliveryStore::SetExpiry(std::string_view recipient,
                                      absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set, db_.Prepare("UPDATE deliveries SET expires_at_us = ? "
                                 "WHERE recipient_session_id = ? AND state < 3 "
                                 "  AND ended = 0 AND expires_at_us = 0"));
  set.Bind(at, recipient);
  return set.Run();
}

absl::Status DeliveryStore::ClearExpiry(std::string_view recipient) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement clear,
      db_.Prepare("UPDATE deliveries SET expires_at_us = 0 "
                  "WHERE recipient_session_id = ? AND state < 3 "
                  "  AND ended = 0 AND expires_at_us > 0 AND 0 = "
                  "    (SELECT e.expires_at_us FROM envelopes e "
                  "     WHERE e.sequence = deliveries.sequence)"));
  clear.Bind(recipient);
  return clear.Run();
}

absl::StatusOr<bool> DeliveryStore::End(int64_t sequence, v1::DeliveryEnd end,
                                        absl::Time at,
                                        std::string_view evidence) {
  INTERCOM_ASSIGN_OR_RETURN(const DeliveryRow before,
                            LoadDelivery(db_, sequence));
  if (!before.open()) return false;
  DeliveryRow after = before;
  after.ClearWait();
  after.end = end;
  after.ended_at_us = after.settled_at_us = absl::ToUnixMicros(at);
  after.end_evidence = std::string(evidence);
  INTERCOM_RETURN_IF_ERROR(SaveDelivery(db_, before, after));
  return true;
}

}  // namespace intercom
