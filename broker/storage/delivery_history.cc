#include "broker/storage/delivery_history.h"

#include <limits>
#include <utility>

#include "broker/base/status_macros.h"
#include "broker/storage/delivery_row.h"

namespace intercom {
namespace {

#define INTERCOM_HISTORY_FROM \
  "FROM envelopes e CROSS JOIN deliveries d ON d.sequence = e.sequence "

// ?1 before_sequence, ?2 limit, ?3 session, ?4 root.
constexpr char kListSql[] = INTERCOM_SELECT_RECORDS INTERCOM_HISTORY_FROM
    "WHERE e.sequence < ?1 AND (?4 = '' "
    "  OR e.sender_workspace_root = ?4 OR e.recipient_session_id IN ("
    "    SELECT s.session_id FROM sessions s WHERE s.workspace_root = ?4)) "
    "ORDER BY e.sequence DESC LIMIT ?2";

// Each side from its own index, so that a quiet session costs no full scan.
constexpr char kListOfSessionSql[] =
    INTERCOM_SELECT_RECORDS INTERCOM_HISTORY_FROM
    "WHERE e.sequence IN ("
    "  SELECT sequence FROM (SELECT o.sequence FROM envelopes o "
    "    WHERE o.sender_session_id = ?3 AND o.sequence < ?1 "
    "      AND (?4 = '' OR o.sender_workspace_root = ?4 "
    "        OR o.recipient_session_id IN (SELECT s.session_id "
    "          FROM sessions s WHERE s.workspace_root = ?4)) "
    "    ORDER BY o.sequence DESC LIMIT ?2) "
    "  UNION "
    "  SELECT sequence FROM (SELECT m.sequence FROM deliveries m "
    "    CROSS JOIN envelopes o ON o.sequence = m.sequence "
    "    WHERE m.recipient_session_id = ?3 AND m.moved = 1 "
    "      AND m.sequence < ?1 "
    "      AND (?4 = '' OR o.sender_workspace_root = ?4 "
    "        OR o.recipient_session_id IN (SELECT s.session_id "
    "          FROM sessions s WHERE s.workspace_root = ?4)) "
    "    ORDER BY m.sequence DESC LIMIT ?2) "
    "  UNION "
    "  SELECT sequence FROM (SELECT i.sequence FROM envelopes i "
    "    WHERE i.recipient_session_id = ?3 AND i.sequence < ?1 "
    "      AND (?4 = '' OR i.sender_workspace_root = ?4 "
    "        OR i.recipient_session_id IN (SELECT s.session_id "
    "          FROM sessions s WHERE s.workspace_root = ?4)) "
    "    ORDER BY i.sequence DESC LIMIT ?2)) "
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
  const int64_t before = filter.before_sequence > 0
                             ? filter.before_sequence
                             : std::numeric_limits<int64_t>::max();
  INTERCOM_ASSIGN_OR_RETURN(
      Statement list,
      db_.Prepare(filter.session_id.empty() ? kListSql : kListOfSessionSql));
  list.Bind(before, filter.limit, filter.session_id, filter.workspace_root);
  HistoryPage page;
  for (int64_t bytes = 0; bytes <= filter.max_text_bytes;) {
    v1::DeliveryRecord record;
    INTERCOM_ASSIGN_OR_RETURN(const bool read, ReadRecord(list, record));
    if (!read) {
      page.more = static_cast<int>(page.records.size()) == filter.limit;
      return page;
    }
    bytes += static_cast<int64_t>(record.envelope().text().size());
    page.records.push_back(std::move(record));
  }
  page.more = true;
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
