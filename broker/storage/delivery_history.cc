#include "broker/storage/delivery_history.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "broker/base/status_macros.h"
#include "broker/domain/text_rules.h"
#include "broker/storage/delivery_row.h"
#include "broker/storage/mailbox_store.h"

namespace intercom {
namespace {

// What decides whether a row is wanted, all of it before its text. ?1
// from_sequence, ?2 how many, ?3 session, ?4 root.
#define INTERCOM_LOOK_AT                                                    \
  "SELECT e.sequence, e.kind, e.accepted_at_us, d.state, d.ended, "         \
  "  ?4 = '' OR e.sender_workspace_root = ?4 OR e.recipient_session_id IN " \
  "    (SELECT s.session_id FROM sessions s WHERE s.workspace_root = ?4) "  \
  "FROM envelopes e CROSS JOIN deliveries d ON d.sequence = e.sequence "

#define INTERCOM_LOOK(beyond, order)                                           \
  INTERCOM_LOOK_AT "WHERE e.sequence " beyond " ?1 ORDER BY e.sequence " order \
                   " LIMIT ?2"

// Each side from its own index, so that a quiet session costs no full scan.
#define INTERCOM_LOOK_AT_SESSION(beyond, order)                  \
  INTERCOM_LOOK_AT                                               \
  "WHERE e.sequence IN ("                                        \
  "  SELECT sequence FROM (SELECT o.sequence FROM envelopes o "  \
  "    WHERE o.sender_session_id = ?3 AND o.sequence " beyond    \
  " ?1 "                                                         \
  "    ORDER BY o.sequence " order                               \
  " LIMIT ?2) "                                                  \
  "  UNION "                                                     \
  "  SELECT sequence FROM (SELECT m.sequence FROM deliveries m " \
  "    WHERE m.recipient_session_id = ?3 AND m.moved = 1 "       \
  "      AND m.sequence " beyond                                 \
  " ?1 "                                                         \
  "    ORDER BY m.sequence " order                               \
  " LIMIT ?2) "                                                  \
  "  UNION "                                                     \
  "  SELECT sequence FROM (SELECT i.sequence FROM envelopes i "  \
  "    WHERE i.recipient_session_id = ?3 AND i.sequence " beyond \
  " ?1 "                                                         \
  "    ORDER BY i.sequence " order                               \
  " LIMIT ?2)) "                                                 \
  "ORDER BY e.sequence " order " LIMIT ?2"

constexpr char kNewestSql[] = INTERCOM_LOOK("<", "DESC");
constexpr char kOldestSql[] = INTERCOM_LOOK(">", "ASC");
constexpr char kNewestOfSessionSql[] = INTERCOM_LOOK_AT_SESSION("<", "DESC");
constexpr char kOldestOfSessionSql[] = INTERCOM_LOOK_AT_SESSION(">", "ASC");

constexpr char kOneSql[] = INTERCOM_SELECT_RECORDS
    "FROM envelopes e CROSS JOIN deliveries d ON d.sequence = e.sequence "
    "WHERE e.sequence = ?";

constexpr char kUnreadSql[] = INTERCOM_SELECT_RECORDS
    "FROM deliveries d CROSS JOIN envelopes e ON e.sequence = d.sequence "
    "WHERE d.recipient_session_id = ?1 AND d.state < 3 AND d.ended = 0 "
    "ORDER BY d.sequence LIMIT ?2";

constexpr char kWithReadSql[] = INTERCOM_SELECT_RECORDS
    "FROM (SELECT sequence FROM (SELECT o.sequence FROM deliveries o "
    "    WHERE o.recipient_session_id = ?1 AND o.state < 3 AND o.ended = 0 "
    "    ORDER BY o.sequence DESC LIMIT ?2) "
    "  UNION ALL "
    "  SELECT sequence FROM (SELECT r.sequence FROM deliveries r "
    "    WHERE r.recipient_session_id = ?1 AND r.state >= 3 "
    "    ORDER BY r.sequence DESC LIMIT ?2)) l "
    "CROSS JOIN deliveries d ON d.sequence = l.sequence "
    "CROSS JOIN envelopes e ON e.sequence = l.sequence "
    "ORDER BY e.sequence DESC LIMIT ?2";

// Bytes in use, without the mail that is still open.
constexpr char kSettledBytesSql[] =
    "SELECT (SELECT page_count FROM pragma_page_count()) "
    "    * (SELECT page_size FROM pragma_page_size()) "
    "  - (SELECT freelist_count FROM pragma_freelist_count()) "
    "    * (SELECT page_size FROM pragma_page_size()) "
    "  - COALESCE((SELECT SUM(bytes) FROM mailboxes), 0)";

constexpr char kOldestSettledSql[] =
    "SELECT sequence, settled_at_us, bytes FROM deliveries "
    "WHERE settled_at_us > 0 "
    "  AND sequence < (SELECT MAX(sequence) FROM envelopes) "
    "ORDER BY settled_at_us, sequence LIMIT ?";

// Whether what `row` says of a delivery is what the filter asks for.
bool IsWanted(const HistoryFilter& filter, const Statement& row) {
  const auto kind = static_cast<v1::EnvelopeKind>(row.Int(1));
  const absl::Time accepted_at = row.Time(2);
  const auto state = static_cast<v1::DeliveryState>(row.Int(3));
  const auto end = static_cast<v1::DeliveryEnd>(row.Int(4));
  const bool has_ended = end != v1::DELIVERY_END_UNSPECIFIED;
  const bool any = filter.states.empty() && filter.ends.empty();
  return row.Bool(5) && (filter.kinds.empty() || filter.kinds.contains(kind)) &&
         (any || (!has_ended && filter.states.contains(state)) ||
          filter.ends.contains(end)) &&
         (!filter.waiting ||
          (!has_ended && state < v1::DELIVERY_STATE_INJECTED)) &&
         (!filter.since.has_value() || accepted_at >= *filter.since) &&
         (!filter.until.has_value() || accepted_at < *filter.until);
}

const char* LookSqlOf(const HistoryFilter& filter) {
  if (filter.session_id.empty()) {
    return filter.oldest_first ? kOldestSql : kNewestSql;
  }
  return filter.oldest_first ? kOldestOfSessionSql : kNewestOfSessionSql;
}

// The part of an envelope that may be long.
int64_t LongBytesOf(const v1::Envelope& envelope) {
  size_t bytes = envelope.text().size();
  for (const v1::MessageAttachment& one : envelope.attachments()) {
    bytes += one.content().size();
  }
  return static_cast<int64_t>(bytes);
}

// `wanted` is folded.
bool Contains(const v1::Envelope& envelope, const std::string& wanted) {
  const auto has = [&wanted](const std::string& text) {
    return FoldName(text).find(wanted) != std::string::npos;
  };
  if (wanted.empty() || has(envelope.text())) return true;
  return std::any_of(
      envelope.attachments().begin(), envelope.attachments().end(),
      [&](const v1::MessageAttachment& one) { return has(one.name()); });
}

absl::Status Remove(Database& db, int64_t sequence) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement delivery,
      db.Prepare("DELETE FROM deliveries WHERE sequence = ?"));
  delivery.Bind(sequence);
  INTERCOM_RETURN_IF_ERROR(delivery.Run());
  INTERCOM_ASSIGN_OR_RETURN(
      Statement envelope,
      db.Prepare("DELETE FROM envelopes WHERE sequence = ?"));
  envelope.Bind(sequence);
  return envelope.Run();
}

}  // namespace

absl::StatusOr<HistoryPage> DeliveryHistory::List(const HistoryFilter& filter) {
  const int64_t from = filter.from_sequence > 0 || filter.oldest_first
                           ? filter.from_sequence
                           : std::numeric_limits<int64_t>::max();
  INTERCOM_ASSIGN_OR_RETURN(Statement look, db_.Prepare(LookSqlOf(filter)));
  look.Bind(from, filter.max_looked_at, filter.session_id,
            filter.workspace_root);
  const std::string wanted = FoldName(filter.containing);
  HistoryPage page;
  int looked_at = 0;
  int64_t bytes = 0;
  int64_t bytes_looked_at = 0;
  while (static_cast<int>(page.records.size()) < filter.limit &&
         bytes <= filter.max_text_bytes &&
         bytes_looked_at <= filter.max_bytes_looked_at) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, look.Step());
    if (!row) {
      page.more = looked_at == filter.max_looked_at;
      return page;
    }
    ++looked_at;
    page.last_sequence = look.Int64(0);
    if (!IsWanted(filter, look)) continue;
    INTERCOM_ASSIGN_OR_RETURN(Statement one, db_.Prepare(kOneSql));
    one.Bind(page.last_sequence);
    v1::DeliveryRecord record;
    INTERCOM_RETURN_IF_ERROR(ReadRecord(one, record).status());
    bytes_looked_at += static_cast<int64_t>(record.envelope().ByteSizeLong());
    if (!Contains(record.envelope(), wanted)) continue;
    bytes += LongBytesOf(record.envelope());
    page.records.push_back(std::move(record));
  }
  page.more = true;
  return page;
}

absl::StatusOr<InboxPage> DeliveryHistory::ListInbox(std::string_view person,
                                                     bool with_read, int limit,
                                                     int64_t max_text_bytes) {
  INTERCOM_ASSIGN_OR_RETURN(const Mailbox mailbox,
                            MailboxStore(db_).Find(person));
  INTERCOM_ASSIGN_OR_RETURN(Statement list,
                            db_.Prepare(with_read ? kWithReadSql : kUnreadSql));
  list.Bind(person, limit);
  InboxPage page;
  page.left_out = mailbox.envelopes;
  for (int64_t bytes = 0; bytes <= max_text_bytes;) {
    v1::DeliveryRecord record;
    INTERCOM_ASSIGN_OR_RETURN(const bool read, ReadRecord(list, record));
    if (!read) break;
    bytes += static_cast<int64_t>(record.envelope().ByteSizeLong());
    if (StatusOf(record).open()) --page.left_out;
    page.records.push_back(std::move(record));
  }
  if (with_read) std::reverse(page.records.begin(), page.records.end());
  return page;
}

absl::StatusOr<int> DeliveryHistory::Prune(absl::Time older_than,
                                           int64_t max_bytes, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement size, db_.Prepare(kSettledBytesSql));
  size.Bind();
  INTERCOM_RETURN_IF_ERROR(size.Step().status());
  int64_t excess = size.Int64(0) - max_bytes;
  INTERCOM_RETURN_IF_ERROR(size.Run());

  std::vector<int64_t> doomed;
  {
    INTERCOM_ASSIGN_OR_RETURN(Statement oldest, db_.Prepare(kOldestSettledSql));
    oldest.Bind(limit);
    while (true) {
      INTERCOM_ASSIGN_OR_RETURN(const bool row, oldest.Step());
      if (!row || (oldest.Time(1) >= older_than && excess <= 0)) break;
      doomed.push_back(oldest.Int64(0));
      excess -= oldest.Int64(2);
    }
  }
  for (const int64_t sequence : doomed) {
    INTERCOM_RETURN_IF_ERROR(Remove(db_, sequence));
  }
  INTERCOM_ASSIGN_OR_RETURN(
      Statement empty,
      db_.Prepare("DELETE FROM mailboxes WHERE envelopes = 0"));
  empty.Bind();
  INTERCOM_RETURN_IF_ERROR(empty.Run());
  return static_cast<int>(doomed.size());
}

}  // namespace intercom
