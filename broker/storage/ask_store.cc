#include "broker/storage/ask_store.h"

#include <algorithm>
#include <utility>

#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"

namespace intercom {
namespace {

constexpr size_t kPreviewCharacters = 160;
// As much of a text as a preview is made of: what it strips counts too.
constexpr int kPreviewSource = 640;

#define INTERCOM_SELECT_ASKS                                             \
  "SELECT a.delivery_id, a.sequence, a.scope, a.asker_session_id, "      \
  "  a.recipient_session_id, a.state, a.asked_at_us, a.deadline_at_us, " \
  "  a.settled_at_us, a.reply_delivery_id "

constexpr char kAddSql[] =
    "INSERT INTO asks (delivery_id, sequence, scope, asker_session_id, "
    "  recipient_session_id, state, asked_at_us, deadline_at_us, "
    "  settled_at_us, reply_delivery_id) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (delivery_id) DO NOTHING";

constexpr char kFindSql[] =
    INTERCOM_SELECT_ASKS "FROM asks a WHERE a.delivery_id = ?";

constexpr char kFindByReplySql[] = INTERCOM_SELECT_ASKS
    "FROM asks a WHERE a.reply_delivery_id = ? AND a.reply_delivery_id <> '' "
    "ORDER BY a.delivery_id LIMIT 1";

constexpr char kSettleSql[] =
    "UPDATE asks SET state = ?, settled_at_us = ? "
    "WHERE delivery_id = ? AND state = 1";

constexpr char kAnswerSql[] =
    "UPDATE asks SET reply_delivery_id = ?1, "
    "  state = CASE state WHEN 1 THEN 2 ELSE state END, "
    "  settled_at_us = CASE state WHEN 1 THEN ?2 ELSE settled_at_us END "
    "WHERE delivery_id = ?3 AND reply_delivery_id = '' AND state <> 4";

constexpr char kForgetReplySql[] =
    "UPDATE asks SET reply_delivery_id = '', "
    "  state = CASE state WHEN 2 THEN 1 ELSE state END, "
    "  settled_at_us = CASE state WHEN 2 THEN 0 ELSE settled_at_us END "
    "WHERE delivery_id = ?";

constexpr char kAllOpenSql[] = INTERCOM_SELECT_ASKS
    "FROM asks a WHERE a.state = 1 ORDER BY a.asked_at_us, a.sequence";

constexpr char kOpenOfSql[] = INTERCOM_SELECT_ASKS
    "FROM asks a WHERE a.asker_session_id = ? AND a.state = 1 "
    "ORDER BY a.asked_at_us, a.sequence";

constexpr char kUnansweredSql[] = INTERCOM_SELECT_ASKS
    "FROM asks a WHERE a.recipient_session_id = ? "
    "  AND a.reply_delivery_id = '' AND a.state <> 4 AND a.asked_at_us > ? "
    "ORDER BY a.asked_at_us DESC, a.sequence DESC LIMIT ?";

// Of the open deliveries, which are few, not of all that was ever answered.
constexpr char kWithReplyUnderWaySql[] = INTERCOM_SELECT_ASKS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "CROSS JOIN asks a ON a.delivery_id = e.reply_to "
    "WHERE d.state < 3 AND d.ended = 0 AND e.reply_to <> '' AND a.state = 2 "
    "  AND a.reply_delivery_id = e.sender_session_id || '/' || e.envelope_id "
    "ORDER BY a.asked_at_us, a.sequence";

constexpr char kEnvelopeSql[] =
    "SELECT sender_name, sender_origin, sender_role, sender_workspace_root, "
    "  recipient_name, substr(text, 1, ?) "
    "FROM envelopes WHERE envelope_id = ? AND sender_session_id = ?";

constexpr char kPruneSql[] =
    "DELETE FROM asks WHERE delivery_id IN (SELECT delivery_id FROM asks "
    "  WHERE settled_at_us > 0 AND settled_at_us < ? "
    "  ORDER BY settled_at_us LIMIT ?)";

AskRow ReadRow(const Statement& row) {
  AskRow ask;
  ask.delivery_id = row.String(0);
  ask.sequence = row.Int64(1);
  ask.scope = row.String(2);
  ask.asker_session_id = row.String(3);
  ask.recipient_session_id = row.String(4);
  ask.state = static_cast<v1::Ask::State>(row.Int(5));
  ask.asked_at = row.Time(6);
  ask.deadline_at = row.Time(7);
  ask.settled_at = row.OptionalTime(8);
  ask.reply_delivery_id = row.String(9);
  return ask;
}

absl::StatusOr<std::vector<AskRow>> ReadRows(Statement& rows) {
  std::vector<AskRow> asks;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return asks;
    asks.push_back(ReadRow(rows));
  }
}

absl::StatusOr<std::optional<AskRow>> ReadOne(Statement& rows) {
  INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
  if (!row) return std::nullopt;
  return ReadRow(rows);
}

}  // namespace

absl::StatusOr<bool> AskStore::Add(const AskRow& ask) {
  INTERCOM_ASSIGN_OR_RETURN(Statement add, db_.Prepare(kAddSql));
  add.Bind(ask.delivery_id, ask.sequence, ask.scope, ask.asker_session_id,
           ask.recipient_session_id, ask.state, ask.asked_at, ask.deadline_at,
           ask.settled_at, ask.reply_delivery_id);
  INTERCOM_RETURN_IF_ERROR(add.Run());
  return db_.changes() > 0;
}

absl::StatusOr<std::optional<AskRow>> AskStore::Find(
    std::string_view delivery_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(delivery_id);
  return ReadOne(find);
}

absl::StatusOr<std::optional<AskRow>> AskStore::FindByReply(
    std::string_view reply_delivery_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindByReplySql));
  find.Bind(reply_delivery_id);
  return ReadOne(find);
}

absl::StatusOr<bool> AskStore::Settle(std::string_view delivery_id,
                                      v1::Ask::State state, absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(Statement settle, db_.Prepare(kSettleSql));
  settle.Bind(state, at, delivery_id);
  INTERCOM_RETURN_IF_ERROR(settle.Run());
  return db_.changes() > 0;
}

absl::StatusOr<bool> AskStore::Answer(std::string_view delivery_id,
                                      std::string_view reply_delivery_id,
                                      absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(Statement answer, db_.Prepare(kAnswerSql));
  answer.Bind(reply_delivery_id, at, delivery_id);
  INTERCOM_RETURN_IF_ERROR(answer.Run());
  return db_.changes() > 0;
}

absl::Status AskStore::ForgetReply(std::string_view delivery_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement forget, db_.Prepare(kForgetReplySql));
  forget.Bind(delivery_id);
  return forget.Run();
}

absl::StatusOr<std::vector<AskRow>> AskStore::AllOpen() {
  INTERCOM_ASSIGN_OR_RETURN(Statement open, db_.Prepare(kAllOpenSql));
  open.Bind();
  return ReadRows(open);
}

absl::StatusOr<std::vector<AskRow>> AskStore::OpenOf(std::string_view asker) {
  INTERCOM_ASSIGN_OR_RETURN(Statement open, db_.Prepare(kOpenOfSql));
  open.Bind(asker);
  return ReadRows(open);
}

absl::StatusOr<std::vector<AskRow>> AskStore::Unanswered(
    std::string_view recipient, absl::Time since, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement unanswered, db_.Prepare(kUnansweredSql));
  unanswered.Bind(recipient, since, limit);
  INTERCOM_ASSIGN_OR_RETURN(auto asks, ReadRows(unanswered));
  std::reverse(asks.begin(), asks.end());
  return asks;
}

absl::StatusOr<std::vector<AskRow>> AskStore::WithReplyUnderWay() {
  INTERCOM_ASSIGN_OR_RETURN(Statement asks, db_.Prepare(kWithReplyUnderWaySql));
  asks.Bind();
  return ReadRows(asks);
}

absl::StatusOr<v1::Ask> AskStore::Describe(const AskRow& ask) {
  v1::Ask told;
  told.set_delivery_id(ask.delivery_id);
  told.mutable_asker()->set_session_id(ask.asker_session_id);
  told.set_recipient_session_id(ask.recipient_session_id);
  told.set_state(ask.state);
  *told.mutable_asked_at() = ToProto(ask.asked_at);
  *told.mutable_deadline_at() = ToProto(ask.deadline_at);
  if (ask.settled_at.has_value()) {
    *told.mutable_settled_at() = ToProto(*ask.settled_at);
  }
  told.set_reply_delivery_id(ask.reply_delivery_id);
  const auto id = ParseDeliveryId(ask.delivery_id);
  if (!id.has_value()) return told;
  INTERCOM_ASSIGN_OR_RETURN(Statement envelope, db_.Prepare(kEnvelopeSql));
  envelope.Bind(kPreviewSource, id->envelope_id, id->sender_session_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool found, envelope.Step());
  if (!found) return told;
  v1::Sender& asker = *told.mutable_asker();
  asker.set_name(envelope.String(0));
  asker.set_origin(static_cast<v1::Origin>(envelope.Int(1)));
  asker.set_role(static_cast<v1::Role>(envelope.Int(2)));
  asker.set_workspace_root(envelope.String(3));
  told.set_recipient_name(envelope.String(4));
  told.set_preview(SafeLabel(envelope.Text(5), kPreviewCharacters));
  return told;
}

absl::StatusOr<int> AskStore::Prune(absl::Time older_than, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement prune, db_.Prepare(kPruneSql));
  prune.Bind(older_than, limit);
  INTERCOM_RETURN_IF_ERROR(prune.Run());
  return static_cast<int>(db_.changes());
}

}  // namespace intercom
