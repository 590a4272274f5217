#include "broker/storage/monitor_pane_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

#define INTERCOM_MONITOR_PANE_SELECT                                   \
  "SELECT root, claim_id, coordinator_session_id, host_pid, "          \
  "host_start_ticks, stage, caller, pane, detail, updated_at_us FROM " \
  "monitor_panes WHERE "
constexpr char kFindSql[] = INTERCOM_MONITOR_PANE_SELECT "root = ?";
constexpr char kFindByClaimSql[] = INTERCOM_MONITOR_PANE_SELECT "claim_id = ?";
#undef INTERCOM_MONITOR_PANE_SELECT

constexpr char kSaveSql[] =
    "INSERT OR REPLACE INTO monitor_panes (root, claim_id, "
    "coordinator_session_id, host_pid, host_start_ticks, stage, caller, pane, "
    "detail, updated_at_us) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

}  // namespace

absl::StatusOr<std::optional<MonitorPaneRow>> MonitorPaneStore::Find(
    std::string_view root) {
  return FindWhere(kFindSql, root);
}

absl::StatusOr<std::optional<MonitorPaneRow>> MonitorPaneStore::FindByClaim(
    std::string_view claim_id) {
  return FindWhere(kFindByClaimSql, claim_id);
}

absl::StatusOr<std::optional<MonitorPaneRow>> MonitorPaneStore::FindWhere(
    const char* sql, std::string_view key) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(sql));
  find.Bind(key);
  INTERCOM_ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return std::nullopt;
  MonitorPaneRow row;
  row.root = find.String(0);
  row.claim_id = find.String(1);
  row.coordinator_session_id = find.String(2);
  row.host_pid = find.Int64(3);
  row.host_start_ticks = find.Int64(4);
  row.stage = static_cast<v1::MonitorPane::Stage>(find.Int(5));
  row.caller.ParseFromString(find.Bytes(6));
  row.pane.ParseFromString(find.Bytes(7));
  row.detail = find.String(8);
  row.updated_at = find.Time(9);
  return row;
}

absl::Status MonitorPaneStore::Save(const MonitorPaneRow& row) {
  const std::string caller = row.caller.SerializeAsString();
  const std::string pane = row.pane.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(Statement save, db_.Prepare(kSaveSql));
  save.Bind(row.root, row.claim_id, row.coordinator_session_id, row.host_pid,
            row.host_start_ticks, row.stage, Blob{caller}, Blob{pane},
            row.detail, row.updated_at);
  return save.Run();
}

absl::Status MonitorPaneStore::Remove(std::string_view root) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement remove,
      db_.Prepare("DELETE FROM monitor_panes WHERE root = ?"));
  remove.Bind(root);
  return remove.Run();
}

}  // namespace intercom
