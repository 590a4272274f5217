#include "broker/storage/workspace_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

// A row that nothing was mirrored into yet, if there is none.
constexpr char kMakeSql[] =
    "INSERT INTO workspaces (root, coordinator_session_id, generation, "
    "  config_hash, config_json, mirrored_at_us, config_error) "
    "VALUES (?, '', 0, '', '', 0, '') ON CONFLICT (root) DO NOTHING";

constexpr char kTouchSql[] =
    "UPDATE workspaces SET mirrored_at_us = ?, config_error = '' "
    "WHERE root = ? AND config_hash = ? AND generation > 0 "
    "RETURNING generation";

constexpr char kMirrorSql[] =
    "UPDATE workspaces SET generation = generation + 1, config_hash = ?, "
    "  config_json = ?, mirrored_at_us = ?, config_error = '' "
    "WHERE root = ? RETURNING generation";

constexpr char kAddAgentSql[] =
    "INSERT INTO agents (root, position, session_id, name, coordinator, "
    "  description, port, project_directory, entry_hash) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";

constexpr char kAgentsSql[] =
    "SELECT session_id, name, coordinator, description, port, "
    "  project_directory, entry_hash "
    "FROM agents WHERE root = ? ORDER BY position";

#define INTERCOM_WORKSPACE_COLUMNS                                       \
  "root, coordinator_session_id, generation, config_hash, config_json, " \
  "mirrored_at_us, config_error"

constexpr char kFindSql[] =
    "SELECT " INTERCOM_WORKSPACE_COLUMNS " FROM workspaces WHERE root = ?";
constexpr char kAllSql[] =
    "SELECT " INTERCOM_WORKSPACE_COLUMNS " FROM workspaces ORDER BY root";

#undef INTERCOM_WORKSPACE_COLUMNS

constexpr char kUnusedSql[] =
    "SELECT root FROM workspaces w WHERE mirrored_at_us < ?1 "
    "  AND NOT EXISTS (SELECT 1 FROM sessions "
    "    WHERE workspace_root = w.root AND last_seen_at_us >= ?1) "
    "  AND NOT EXISTS (SELECT 1 FROM jobs "
    "    WHERE root = w.root AND (state < 8 OR state = 12)) "
    "  AND NOT EXISTS (SELECT 1 FROM runs WHERE root = w.root AND state < 3) "
    "ORDER BY root";

WorkspaceRow ReadRow(const Statement& row) {
  return {.root = row.String(0),
          .coordinator_session_id = row.String(1),
          .generation = row.Int64(2),
          .config_hash = row.String(3),
          .config_json = row.String(4),
          .mirrored_at = row.Time(5),
          .config_error = row.String(6),
          .agents = {}};
}

template <typename... Values>
absl::Status Run(Database& db, std::string_view sql, const Values&... values) {
  INTERCOM_ASSIGN_OR_RETURN(Statement statement, db.Prepare(sql));
  statement.Bind(values...);
  return statement.Run();
}

absl::Status ReplaceAgents(Database& db, std::string_view root,
                           const std::vector<v1::AgentEntry>& agents) {
  INTERCOM_RETURN_IF_ERROR(Run(db, "DELETE FROM agents WHERE root = ?", root));
  int position = 0;
  for (const v1::AgentEntry& agent : agents) {
    INTERCOM_RETURN_IF_ERROR(
        Run(db, kAddAgentSql, root, position++, agent.session_id(),
            agent.name(), agent.coordinator(), agent.description(),
            agent.port(), agent.project_directory(), agent.entry_hash()));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> WorkspaceStore::Mirror(
    std::string_view root, std::string_view config_hash,
    std::string_view config_json, const std::vector<v1::AgentEntry>& agents,
    absl::Time now) {
  INTERCOM_RETURN_IF_ERROR(Run(db_, kMakeSql, root));
  {
    INTERCOM_ASSIGN_OR_RETURN(Statement touch, db_.Prepare(kTouchSql));
    touch.Bind(now, root, config_hash);
    INTERCOM_ASSIGN_OR_RETURN(const bool unchanged, touch.Step());
    if (unchanged) {
      const int64_t generation = touch.Int64(0);
      INTERCOM_RETURN_IF_ERROR(touch.Run());
      return generation;
    }
  }
  INTERCOM_RETURN_IF_ERROR(ReplaceAgents(db_, root, agents));
  INTERCOM_ASSIGN_OR_RETURN(Statement mirror, db_.Prepare(kMirrorSql));
  mirror.Bind(config_hash, config_json, now, root);
  INTERCOM_RETURN_IF_ERROR(mirror.Step().status());
  const int64_t generation = mirror.Int64(0);
  INTERCOM_RETURN_IF_ERROR(mirror.Run());
  return generation;
}

absl::Status WorkspaceStore::SetError(std::string_view root,
                                      std::string_view text) {
  INTERCOM_RETURN_IF_ERROR(Run(db_, kMakeSql, root));
  return Run(db_, "UPDATE workspaces SET config_error = ? WHERE root = ?", text,
             root);
}

absl::Status WorkspaceStore::PinCoordinator(std::string_view root,
                                            std::string_view session_id) {
  INTERCOM_RETURN_IF_ERROR(Run(db_, kMakeSql, root));
  return Run(db_,
             "UPDATE workspaces SET coordinator_session_id = ? WHERE root = ?",
             session_id, root);
}

absl::StatusOr<std::optional<WorkspaceRow>> WorkspaceStore::Find(
    std::string_view root) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(root);
  INTERCOM_ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return std::nullopt;
  WorkspaceRow row = ReadRow(find);
  INTERCOM_RETURN_IF_ERROR(ReadAgents(row));
  return row;
}

absl::StatusOr<std::vector<WorkspaceRow>> WorkspaceStore::All() {
  INTERCOM_ASSIGN_OR_RETURN(Statement all, db_.Prepare(kAllSql));
  all.Bind();
  std::vector<WorkspaceRow> rows;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool found, all.Step());
    if (!found) return rows;
    rows.push_back(ReadRow(all));
    INTERCOM_RETURN_IF_ERROR(ReadAgents(rows.back()));
  }
}

absl::StatusOr<std::vector<std::string>> WorkspaceStore::UnusedSince(
    absl::Time before) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kUnusedSql));
  find.Bind(before);
  std::vector<std::string> roots;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool found, find.Step());
    if (!found) return roots;
    roots.push_back(find.String(0));
  }
}

absl::Status WorkspaceStore::Remove(std::string_view root) {
  INTERCOM_RETURN_IF_ERROR(ReplaceAgents(db_, root, {}));
  return Run(db_, "DELETE FROM workspaces WHERE root = ?", root);
}

absl::Status WorkspaceStore::ReadAgents(WorkspaceRow& row) {
  INTERCOM_ASSIGN_OR_RETURN(Statement agents, db_.Prepare(kAgentsSql));
  agents.Bind(row.root);
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool found, agents.Step());
    if (!found) return absl::OkStatus();
    v1::AgentEntry& agent = row.agents.emplace_back();
    agent.set_session_id(agents.String(0));
    agent.set_name(agents.String(1));
    agent.set_coordinator(agents.Bool(2));
    agent.set_description(agents.String(3));
    agent.set_port(agents.Int(4));
    agent.set_project_directory(agents.String(5));
    agent.set_entry_hash(agents.String(6));
  }
}

}  // namespace intercom
