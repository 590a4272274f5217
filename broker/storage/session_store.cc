#include "broker/storage/session_store.h"

#include <utility>

#include "broker/base/status_macros.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

#define INTERCOM_SESSION_COLUMNS                                 \
  "session_id, workspace_root, cwd, scope, name, host_kind, "    \
  "host_version, role, epoch, attached_at_us, last_seen_at_us, " \
  "host_pid, host_start_ticks, launch_job_id, stable_id, left_sequence"

constexpr char kAttachSql[] =
    "INSERT INTO sessions (" INTERCOM_SESSION_COLUMNS
    ", folded_name) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (session_id) DO UPDATE SET "
    "  workspace_root = excluded.workspace_root, cwd = excluded.cwd, "
    "  scope = excluded.scope, name = excluded.name, "
    "  host_kind = excluded.host_kind, host_version = excluded.host_version, "
    "  role = excluded.role, epoch = epoch + 1, "
    "  attached_at_us = excluded.attached_at_us, "
    "  last_seen_at_us = excluded.last_seen_at_us, "
    "  host_pid = excluded.host_pid, "
    "  host_start_ticks = excluded.host_start_ticks, "
    "  launch_job_id = excluded.launch_job_id, "
    "  stable_id = excluded.stable_id, "
    "  left_sequence = excluded.left_sequence, "
    "  folded_name = excluded.folded_name "
    "RETURNING epoch";

constexpr char kFindSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS " FROM sessions WHERE session_id = ?";

constexpr char kFindNamedSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE scope = ? AND folded_name = ? AND folded_name <> '' "
    "ORDER BY last_seen_at_us DESC, session_id DESC LIMIT ?";

constexpr char kFindByStableIdSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE scope = ? AND stable_id = ? AND stable_id <> '' "
    "ORDER BY last_seen_at_us DESC, session_id DESC LIMIT 1";

// The upper bound is the prefix with the greatest character.
constexpr char kFindByPrefixSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE session_id >= ? AND session_id <= ? AND scope = ? "
    "ORDER BY session_id LIMIT ?";

constexpr char kFindAnyByPrefixSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE session_id >= ? AND session_id <= ? "
    "ORDER BY session_id LIMIT ?";

constexpr char kLastSeenSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE scope = ? "
    "ORDER BY last_seen_at_us DESC, session_id DESC LIMIT ?";

constexpr char kAlikeWithMailSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE session_id IN ("
    "    SELECT session_id FROM sessions "
    "    WHERE scope = ?1 AND folded_name = ?2 AND folded_name <> '' "
    "    UNION SELECT session_id FROM sessions "
    "    WHERE scope = ?1 AND stable_id = ?5 AND stable_id <> '') "
    "  AND cwd = ?3 AND workspace_root = ?4 "
    "  AND session_id <> ?6 AND EXISTS (SELECT 1 FROM mailboxes m "
    "    WHERE m.recipient_session_id = session_id AND m.envelopes > 0) "
    "ORDER BY session_id LIMIT ?7";

constexpr char kLaunchedBySql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS
    " FROM sessions WHERE launch_job_id IN (SELECT job_id FROM jobs "
    "  WHERE requested_by = ? AND launcher = ?) ORDER BY session_id";

#undef INTERCOM_SESSION_COLUMNS

constexpr char kForgettableSql[] =
    "SELECT session_id FROM sessions s WHERE last_seen_at_us < ? "
    "  AND NOT EXISTS (SELECT 1 FROM agents "
    "    WHERE session_id = s.session_id) "
    "  AND NOT EXISTS (SELECT 1 FROM workspaces "
    "    WHERE coordinator_session_id = s.session_id) "
    "  AND NOT EXISTS (SELECT 1 FROM mailboxes "
    "    WHERE recipient_session_id = s.session_id AND envelopes > 0) "
    "  AND NOT EXISTS (SELECT 1 FROM envelopes e JOIN deliveries d "
    "    ON d.sequence = e.sequence WHERE e.sender_session_id = s.session_id "
    "    AND d.state < 3 AND d.ended = 0) "
    "  AND NOT EXISTS (SELECT 1 FROM asks WHERE state = 1 AND "
    "    (asker_session_id = s.session_id OR "
    "     recipient_session_id = s.session_id)) "
    "  AND NOT EXISTS (SELECT 1 FROM jobs WHERE (state < 8 OR state = 12) AND "
    "    (session_id = s.session_id OR requested_by = s.session_id)) "
    "  AND NOT EXISTS (SELECT 1 FROM runs "
    "    WHERE supervisor_session_id = s.session_id) "
    "  AND NOT EXISTS (SELECT 1 FROM runs "
    "    WHERE worker_session_id = s.session_id AND state < 3) "
    "  AND NOT EXISTS (SELECT 1 FROM notes "
    "    WHERE supervisor_session_id = s.session_id) "
    "ORDER BY last_seen_at_us, session_id";

constexpr const char* kForgetSql[] = {
    "DELETE FROM dropped_runs WHERE supervisor_session_id = ?",
    "DELETE FROM lost_notes WHERE supervisor_session_id = ?",
    "DELETE FROM run_totals WHERE worker_session_id = ?",
    "DELETE FROM reports WHERE session_id = ?",
    "DELETE FROM handoffs WHERE session_id = ?",
    "DELETE FROM sessions WHERE session_id = ?"};

constexpr char kGreatestCharacter[] = "\xF4\x8F\xBF\xBF";

SessionRow ReadRow(const Statement& row) {
  return {.session_id = row.String(0),
          .workspace_root = row.String(1),
          .cwd = row.String(2),
          .scope = row.String(3),
          .name = row.String(4),
          .host_kind = row.String(5),
          .host_version = row.String(6),
          .role = static_cast<v1::Role>(row.Int(7)),
          .epoch = row.Int64(8),
          .attached_at = row.Time(9),
          .last_seen_at = row.Time(10),
          .host_pid = row.Int64(11),
          .host_start_ticks = row.Int64(12),
          .launch_job_id = row.String(13),
          .stable_id = row.String(14),
          .left_sequence = row.Int64(15)};
}

absl::StatusOr<std::vector<SessionRow>> ReadRows(Statement& statement) {
  std::vector<SessionRow> rows;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, statement.Step());
    if (!row) return rows;
    rows.push_back(ReadRow(statement));
  }
}

}  // namespace

absl::StatusOr<int64_t> SessionStore::Attach(const SessionRow& row) {
  INTERCOM_ASSIGN_OR_RETURN(Statement attach, db_.Prepare(kAttachSql));
  attach.Bind(row.session_id, row.workspace_root, row.cwd, row.scope, row.name,
              row.host_kind, row.host_version, row.role, row.attached_at,
              row.last_seen_at, row.host_pid, row.host_start_ticks,
              row.launch_job_id, row.stable_id, row.left_sequence,
              NameKey(row.name));
  INTERCOM_RETURN_IF_ERROR(attach.Step().status());
  const int64_t epoch = attach.Int64(0);
  INTERCOM_RETURN_IF_ERROR(attach.Run());
  return epoch;
}

absl::StatusOr<std::optional<SessionRow>> SessionStore::Find(
    std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(session_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (!row) return std::nullopt;
  return ReadRow(find);
}

absl::StatusOr<std::vector<SessionRow>> SessionStore::FindNamed(
    std::string_view scope, std::string_view folded_name, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindNamedSql));
  find.Bind(scope, folded_name, limit);
  return ReadRows(find);
}

absl::StatusOr<std::optional<SessionRow>> SessionStore::FindByStableId(
    std::string_view scope, std::string_view stable_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindByStableIdSql));
  find.Bind(scope, stable_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (!row) return std::nullopt;
  return ReadRow(find);
}

absl::StatusOr<std::vector<SessionRow>> SessionStore::FindByPrefix(
    std::string_view scope, std::string_view prefix, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindByPrefixSql));
  find.Bind(prefix, std::string(prefix) + kGreatestCharacter, scope, limit);
  return ReadRows(find);
}

absl::StatusOr<std::vector<SessionRow>> SessionStore::FindAnyByPrefix(
    std::string_view prefix, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindAnyByPrefixSql));
  find.Bind(prefix, std::string(prefix) + kGreatestCharacter, limit);
  return ReadRows(find);
}

absl::StatusOr<std::vector<SessionRow>> SessionStore::LastSeen(
    std::string_view scope, int limit,
    absl::FunctionRef<bool(const SessionRow&)> accept) {
  INTERCOM_ASSIGN_OR_RETURN(Statement last, db_.Prepare(kLastSeenSql));
  last.Bind(scope, kMaxLooked);
  std::vector<SessionRow> rows;
  while (static_cast<int>(rows.size()) < limit) {
    INTERCOM_ASSIGN_OR_RETURN(const bool found, last.Step());
    if (!found) break;
    SessionRow row = ReadRow(last);
    if (accept(row)) rows.push_back(std::move(row));
  }
  return rows;
}

absl::StatusOr<std::vector<SessionRow>> SessionStore::AlikeWithMail(
    const SessionRow& row, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kAlikeWithMailSql));
  find.Bind(row.scope, NameKey(row.name), row.cwd, row.workspace_root,
            row.stable_id, row.session_id, limit);
  return ReadRows(find);
}

absl::StatusOr<std::vector<SessionRow>> SessionStore::LaunchedBy(
    std::string_view requested_by, std::string_view launcher) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kLaunchedBySql));
  find.Bind(requested_by, launcher);
  return ReadRows(find);
}

absl::Status SessionStore::SetLeft(std::string_view session_id, int64_t epoch,
                                   absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set,
      db_.Prepare("UPDATE sessions SET last_seen_at_us = ?, left_sequence = "
                  "  (SELECT COALESCE(MAX(sequence), 0) FROM envelopes) "
                  "WHERE session_id = ? AND epoch = ?"));
  set.Bind(at, session_id, epoch);
  return set.Run();
}

absl::Status SessionStore::SetName(std::string_view session_id,
                                   std::string_view name) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set,
      db_.Prepare("UPDATE sessions SET name = ?, folded_name = ? "
                  "WHERE session_id = ?"));
  set.Bind(name, NameKey(name), session_id);
  return set.Run();
}

absl::Status SessionStore::SetStableId(std::string_view session_id,
                                       std::string_view stable_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set,
      db_.Prepare("UPDATE sessions SET stable_id = ? WHERE session_id = ?"));
  set.Bind(stable_id, session_id);
  return set.Run();
}

absl::StatusOr<int> SessionStore::Forget(
    absl::Time before, int limit,
    absl::FunctionRef<bool(std::string_view session_id)> attached) {
  std::vector<std::string> unknown;
  {
    INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kForgettableSql));
    find.Bind(before);
    while (static_cast<int>(unknown.size()) < limit) {
      INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
      if (!row) break;
      std::string session_id = find.String(0);
      if (!attached(session_id)) unknown.push_back(std::move(session_id));
    }
  }
  for (const std::string& session_id : unknown) {
    for (const char* sql : kForgetSql) {
      INTERCOM_ASSIGN_OR_RETURN(Statement forget, db_.Prepare(sql));
      forget.Bind(session_id);
      INTERCOM_RETURN_IF_ERROR(forget.Run());
    }
  }
  return static_cast<int>(unknown.size());
}

}  // namespace intercom
