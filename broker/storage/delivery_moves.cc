// How a mailbox passes to another session.
#include <string>
#include <vector>

#include "broker/base/status_macros.h"
#include "broker/domain/identity.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/mailbox_store.h"
#include "intercom/v1/run.pb.h"

namespace intercom {
namespace {

constexpr char kOpenSql[] =
    "SELECT d.sequence, d.state, d.wait_reason, d.bytes, e.kind, "
    "  e.sender_session_id, e.envelope_id "
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.recipient_session_id = ? AND d.state < 3 AND d.ended = 0 "
    "  AND e.sender_session_id <> ? ORDER BY d.sequence";

constexpr char kMoveSql[] =
    "UPDATE deliveries SET recipient_session_id = ?, moved = 1, "
    "  accepted_evidence = accepted_evidence || ? WHERE sequence = ?";

// What was never offered is worked on by nobody.
constexpr char kMoveRunSql[] =
    "UPDATE runs SET worker_session_id = ?, state = ?, started_at_us = 0 "
    "WHERE delivery_id = ? AND state < 3";

struct Move {
  DeliveryStatus status;
  v1::EnvelopeKind kind = v1::ENVELOPE_KIND_UNSPECIFIED;
  std::string delivery_id;
};

absl::StatusOr<std::vector<Move>> ReadMoves(
    Database& db, std::string_view from, std::string_view to,
    absl::FunctionRef<bool(const DeliveryStatus&)> accept) {
  INTERCOM_ASSIGN_OR_RETURN(Statement open, db.Prepare(kOpenSql));
  open.Bind(from, to);
  std::vector<Move> moves;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, open.Step());
    if (!row) return moves;
    Move move;
    move.status.sequence = open.Int64(0);
    move.status.recipient_session_id = std::string(from);
    move.status.state = static_cast<v1::DeliveryState>(open.Int(1));
    move.status.wait_reason = static_cast<v1::WaitReason>(open.Int(2));
    move.status.bytes = open.Int64(3);
    move.kind = static_cast<v1::EnvelopeKind>(open.Int(4));
    move.delivery_id = DeliveryId(open.Text(5), open.Text(6));
    if (accept(move.status)) moves.push_back(std::move(move));
  }
}

}  // namespace

absl::StatusOr<int64_t> DeliveryStore::MoveOpen(
    std::string_view from, std::string_view to,
    absl::FunctionRef<bool(const DeliveryStatus&)> accept,
    std::string_view evidence) {
  INTERCOM_ASSIGN_OR_RETURN(const std::vector<Move> moves,
                            ReadMoves(db_, from, to, accept));
  const std::string note = "; " + std::string(evidence);
  int64_t bytes = 0;
  for (const Move& move : moves) {
    INTERCOM_ASSIGN_OR_RETURN(Statement set, db_.Prepare(kMoveSql));
    set.Bind(to, note, move.status.sequence);
    INTERCOM_RETURN_IF_ERROR(set.Run());
    bytes += move.status.bytes;
    INTERCOM_ASSIGN_OR_RETURN(Statement run, db_.Prepare(kMoveRunSql));
    run.Bind(to, v1::Run::STATE_WAITING, move.delivery_id);
    INTERCOM_RETURN_IF_ERROR(run.Run());
    if (move.kind != v1::ENVELOPE_KIND_ASK) continue;
    INTERCOM_ASSIGN_OR_RETURN(
        Statement ask, db_.Prepare("UPDATE asks SET recipient_session_id = ? "
                                   "WHERE delivery_id = ?"));
    ask.Bind(to, move.delivery_id);
    INTERCOM_RETURN_IF_ERROR(ask.Run());
  }
  const auto count = static_cast<int64_t>(moves.size());
  if (count == 0) return 0;
  MailboxStore mailboxes(db_);
  INTERCOM_RETURN_IF_ERROR(mailboxes.Add(from, -count, -bytes));
  INTERCOM_RETURN_IF_ERROR(mailboxes.Add(to, count, bytes));
  return count;
}

}  // namespace intercom
