#include "broker/storage/note_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

#define INTERCOM_NOTE_COLUMNS                                             \
  "supervisor_session_id, worker_session_id, note_id, worker_name, run, " \
  "text, at_us, drain_id"

NoteRow ReadRow(const Statement& row) {
  return {.supervisor_session_id = row.String(0),
          .worker_session_id = row.String(1),
          .note_id = row.String(2),
          .worker_name = row.String(3),
          .run = row.Int64(4),
          .text = row.String(5),
          .at = row.Time(6),
          .drain_id = row.String(7)};
}

absl::StatusOr<std::vector<NoteRow>> ReadRows(Statement& rows) {
  std::vector<NoteRow> notes;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return notes;
    notes.push_back(ReadRow(rows));
  }
}

}  // namespace

absl::Status NoteStore::Add(const NoteRow& note) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement add, db_.Prepare("INSERT INTO notes (" INTERCOM_NOTE_COLUMNS
                                 ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  add.Bind(note.supervisor_session_id, note.worker_session_id, note.note_id,
           note.worker_name, note.run, note.text, note.at, note.drain_id);
  INTERCOM_RETURN_IF_ERROR(add.Run());
  INTERCOM_ASSIGN_OR_RETURN(
      Statement give_way,
      db_.Prepare("DELETE FROM notes WHERE supervisor_session_id = ?1 "
                  "AND drain_id = '' AND number <= (SELECT number FROM notes "
                  "  WHERE supervisor_session_id = ?1 AND drain_id = '' "
                  "  ORDER BY number DESC LIMIT 1 OFFSET ?2)"));
  give_way.Bind(note.supervisor_session_id, kMostWaiting);
  INTERCOM_RETURN_IF_ERROR(give_way.Run());
  const int64_t lost = db_.changes();
  return lost == 0 ? absl::OkStatus()
                   : CountLost(note.supervisor_session_id, lost);
}

absl::Status NoteStore::CountLost(std::string_view supervisor, int64_t lost) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement count,
      db_.Prepare("INSERT INTO lost_notes "
                  "(supervisor_session_id, notes, drain_id, told) "
                  "VALUES (?, ?, '', 0) "
                  "ON CONFLICT (supervisor_session_id) DO UPDATE SET "
                  "  notes = notes + excluded.notes"));
  count.Bind(supervisor, lost);
  return count.Run();
}

absl::StatusOr<std::optional<NoteRow>> NoteStore::Find(
    std::string_view worker, std::string_view note_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT " INTERCOM_NOTE_COLUMNS
                  " FROM notes WHERE worker_session_id = ? AND note_id = ?"));
  find.Bind(worker, note_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (!row) return std::nullopt;
  return ReadRow(find);
}

absl::StatusOr<int> NoteStore::CountWaiting(std::string_view supervisor) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement count,
      db_.Prepare("SELECT COUNT(*) FROM notes "
                  "WHERE supervisor_session_id = ? AND drain_id = ''"));
  count.Bind(supervisor);
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  return count.Int(0);
}

absl::StatusOr<NoteStore::Drained> NoteStore::Drain(std::string_view supervisor,
                                                    std::string_view drain_id) {
  Drained drained;
  INTERCOM_ASSIGN_OR_RETURN(
      Statement last,
      db_.Prepare("SELECT notes, drain_id, told FROM lost_notes "
                  "WHERE supervisor_session_id = ?"));
  last.Bind(supervisor);
  INTERCOM_ASSIGN_OR_RETURN(const bool has_last, last.Step());
  const bool is_last = has_last && last.Text(1) == drain_id;
  const int64_t lost = has_last ? last.Int64(0) : 0;
  if (is_last) drained.lost = last.Int64(2);

  const auto taken = [&]() -> absl::StatusOr<std::vector<NoteRow>> {
    INTERCOM_ASSIGN_OR_RETURN(
        Statement notes,
        db_.Prepare("SELECT " INTERCOM_NOTE_COLUMNS
                    " FROM notes WHERE supervisor_session_id = ? "
                    "AND drain_id = ? ORDER BY number"));
    notes.Bind(supervisor, drain_id);
    return ReadRows(notes);
  };
  INTERCOM_ASSIGN_OR_RETURN(drained.notes, taken());
  if (is_last || !drained.notes.empty()) return drained;

  INTERCOM_ASSIGN_OR_RETURN(
      Statement take,
      db_.Prepare("UPDATE notes SET drain_id = ?2 WHERE number IN ("
                  "  SELECT number FROM (SELECT number, "
                  "      SUM(LENGTH(CAST(text AS BLOB))) "
                  "        OVER (ORDER BY number) AS bytes, "
                  "      ROW_NUMBER() OVER (ORDER BY number) AS place "
                  "    FROM notes WHERE supervisor_session_id = ?1 "
                  "      AND drain_id = '') "
                  "  WHERE place = 1 OR bytes <= ?3)"));
  take.Bind(supervisor, drain_id, kDrainBytes);
  INTERCOM_RETURN_IF_ERROR(take.Run());
  INTERCOM_ASSIGN_OR_RETURN(drained.notes, taken());
  drained.lost = lost;
  INTERCOM_ASSIGN_OR_RETURN(
      Statement remember,
      db_.Prepare("INSERT INTO lost_notes "
                  "(supervisor_session_id, notes, drain_id, told) "
                  "VALUES (?, 0, ?, ?) "
                  "ON CONFLICT (supervisor_session_id) DO UPDATE SET "
                  "  notes = 0, drain_id = excluded.drain_id, "
                  "  told = excluded.told"));
  remember.Bind(supervisor, drain_id, lost);
  INTERCOM_RETURN_IF_ERROR(remember.Run());
  INTERCOM_ASSIGN_OR_RETURN(
      Statement forget,
      db_.Prepare("DELETE FROM notes WHERE supervisor_session_id = ?1 "
                  "AND drain_id NOT IN ('', ?2) AND number <= ("
                  "  SELECT number FROM notes WHERE supervisor_session_id = ?1 "
                  "  AND drain_id <> '' ORDER BY number DESC "
                  "  LIMIT 1 OFFSET ?3)"));
  forget.Bind(supervisor, drain_id, kDrainedKept);
  INTERCOM_RETURN_IF_ERROR(forget.Run());
  return drained;
}

absl::StatusOr<std::vector<std::string>> NoteStore::OtherDrains(
    std::string_view supervisor, std::string_view drain_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement rows,
      db_.Prepare("SELECT drain_id FROM notes WHERE supervisor_session_id = ? "
                  "AND drain_id NOT IN ('', ?) "
                  "GROUP BY drain_id ORDER BY MIN(number)"));
  rows.Bind(supervisor, drain_id);
  std::vector<std::string> drains;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return drains;
    drains.push_back(rows.String(0));
  }
}

absl::StatusOr<std::vector<NoteRow>> NoteStore::FindDrained(
    std::string_view supervisor, std::string_view prefix, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT " INTERCOM_NOTE_COLUMNS
                  " FROM notes WHERE supervisor_session_id = ?1 "
                  "AND drain_id <> '' AND substr(note_id, 1, length(?2)) = ?2 "
                  "ORDER BY number DESC LIMIT ?3"));
  find.Bind(supervisor, prefix, limit);
  return ReadRows(find);
}

absl::StatusOr<int> NoteStore::Prune(absl::Time before, int limit) {
  std::vector<std::string> waited;
  int removed = 0;
  {
    // Numbers rise with time, so that only the oldest are looked at.
    INTERCOM_ASSIGN_OR_RETURN(
        Statement rows,
        db_.Prepare("DELETE FROM notes WHERE number IN ("
                    "  SELECT number FROM (SELECT number, at_us FROM notes"
                    "    ORDER BY number LIMIT ?) WHERE at_us < ?) "
                    "RETURNING supervisor_session_id, drain_id"));
    rows.Bind(limit, before);
    while (true) {
      INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
      if (!row) break;
      ++removed;
      if (rows.String(1).empty()) waited.push_back(rows.String(0));
    }
  }
  for (const std::string& supervisor : waited) {
    INTERCOM_RETURN_IF_ERROR(CountLost(supervisor, 1));
  }
  return removed;
}

absl::StatusOr<std::vector<NoteRow>> NoteStore::All() {
  INTERCOM_ASSIGN_OR_RETURN(Statement all,
                            db_.Prepare("SELECT " INTERCOM_NOTE_COLUMNS
                                        " FROM notes ORDER BY number"));
  all.Bind();
  return ReadRows(all);
}

}  // namespace intercom
