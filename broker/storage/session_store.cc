#include "broker/storage/session_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

#define INTERCOM_SESSION_COLUMNS                                 \
  "session_id, workspace_root, cwd, scope, name, host_kind, "    \
  "host_version, role, epoch, attached_at_us, last_seen_at_us, " \
  "host_pid, host_start_ticks, launch_job_id, stable_id"

constexpr char kAttachSql[] =
    "INSERT INTO sessions (" INTERCOM_SESSION_COLUMNS
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?) "
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
    "  stable_id = excluded.stable_id "
    "RETURNING epoch";

constexpr char kFindSql[] =
    "SELECT " INTERCOM_SESSION_COLUMNS " FROM sessions WHERE session_id = ?";

#undef INTERCOM_SESSION_COLUMNS

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
          .stable_id = row.String(14)};
}

}  // namespace

absl::StatusOr<int64_t> SessionStore::Attach(const SessionRow& row) {
  INTERCOM_ASSIGN_OR_RETURN(Statement attach, db_.Prepare(kAttachSql));
  attach.Bind(row.session_id, row.workspace_root, row.cwd, row.scope, row.name,
              row.host_kind, row.host_version, row.role, row.attached_at,
              row.last_seen_at, row.host_pid, row.host_start_ticks,
              row.launch_job_id, row.stable_id);
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

absl::Status SessionStore::SetSeen(std::string_view session_id, absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set,
      db_.Prepare(
          "UPDATE sessions SET last_seen_at_us = ? WHERE session_id = ?"));
  set.Bind(at, session_id);
  return set.Run();
}

absl::Status SessionStore::SetName(std::string_view session_id,
                                   std::string_view name) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set,
      db_.Prepare("UPDATE sessions SET name = ? WHERE session_id = ?"));
  set.Bind(name, session_id);
  return set.Run();
}

}  // namespace intercom
