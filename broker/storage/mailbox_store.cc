#include "broker/storage/mailbox_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

// The open rows come from their partial index, the oldest first.
#define INTERCOM_MAILBOX_SELECT                                     \
  "SELECT m.recipient_session_id, m.envelopes, m.bytes, COALESCE((" \
  "  SELECT e.accepted_at_us FROM envelopes e WHERE e.sequence = (" \
  "    SELECT MIN(d.sequence) FROM deliveries d "                   \
  "    WHERE d.recipient_session_id = m.recipient_session_id "      \
  "      AND d.state < 3 AND d.ended = 0)), 0) "                    \
  "FROM mailboxes m "

constexpr char kFindSql[] =
    INTERCOM_MAILBOX_SELECT "WHERE m.recipient_session_id = ?";
constexpr char kAllSql[] = INTERCOM_MAILBOX_SELECT
    "WHERE m.envelopes > 0 ORDER BY m.recipient_session_id";

#undef INTERCOM_MAILBOX_SELECT

constexpr char kAddSql[] =
    "INSERT INTO mailboxes (recipient_session_id, envelopes, bytes) "
    "VALUES (?, ?, ?) ON CONFLICT (recipient_session_id) DO UPDATE SET "
    "  envelopes = envelopes + excluded.envelopes, "
    "  bytes = bytes + excluded.bytes";

Mailbox ReadMailbox(const Statement& row) {
  return {.recipient_session_id = row.String(0),
          .envelopes = row.Int64(1),
          .bytes = row.Int64(2),
          .oldest_at = row.OptionalTime(3)};
}

}  // namespace

absl::StatusOr<Mailbox> MailboxStore::Find(std::string_view recipient) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(recipient);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (row) return ReadMailbox(find);
  Mailbox empty;
  empty.recipient_session_id = std::string(recipient);
  return empty;
}

absl::StatusOr<std::vector<Mailbox>> MailboxStore::All() {
  INTERCOM_ASSIGN_OR_RETURN(Statement all, db_.Prepare(kAllSql));
  all.Bind();
  std::vector<Mailbox> mailboxes;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return mailboxes;
    mailboxes.push_back(ReadMailbox(all));
  }
}

absl::StatusOr<absl::flat_hash_map<std::string, int64_t>>
MailboxStore::Counts() {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement all, db_.Prepare("SELECT recipient_session_id, envelopes "
                                 "FROM mailboxes WHERE envelopes > 0"));
  all.Bind();
  absl::flat_hash_map<std::string, int64_t> counts;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, all.Step());
    if (!row) return counts;
    counts[all.String(0)] = all.Int64(1);
  }
}

absl::Status MailboxStore::Add(std::string_view recipient, int64_t envelopes,
                               int64_t bytes) {
  INTERCOM_ASSIGN_OR_RETURN(Statement add, db_.Prepare(kAddSql));
  add.Bind(recipient, envelopes, bytes);
  return add.Run();
}

}  // namespace intercom
