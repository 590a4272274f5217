#include "broker/storage/database.h"

#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/storage/sqlite_error.h"

namespace intercom {
namespace {

constexpr int kBusyTimeoutMs = 1000;
// Instructions of SQLite's machine between two looks at the time.
constexpr int kProgressSteps = 10'000;

// SQLite would create it with the process's umask. Only a new file is touched:
// closing one that SQLite has open would drop its locks.
void CreatePrivate(const std::string& path) {
  const int fd =
      open(path.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0) close(fd);
}

absl::Status UseWal(Database& db) {
  INTERCOM_ASSIGN_OR_RETURN(Statement wal,
                            db.Prepare("PRAGMA journal_mode=WAL"));
  INTERCOM_ASSIGN_OR_RETURN(const bool row, wal.Step());
  if (!row || wal.Text(0) != "wal") {
    return Error(absl::StatusCode::kUnavailable, "STORAGE_UNREADABLE",
                 db.path() +
                     ": the file system doesn't support SQLite's write-ahead "
                     "log; put the state directory on a local disk");
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Database>> Database::OpenWith(
    const std::string& path, int flags) {
  std::unique_ptr<Database> db(new Database(path == ":memory:" ? "" : path));
  const int code = sqlite3_open_v2(
      path.c_str(), &db->db_,
      flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  if (code != SQLITE_OK) return SqliteError(db->db_, code, "open " + path);
  sqlite3_busy_timeout(db->db_, kBusyTimeoutMs);
  sqlite3_db_config(db->db_, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(db->db_, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  return db;
}

absl::StatusOr<std::unique_ptr<Database>> Database::Open(
    const std::string& path) {
  CreatePrivate(path);
  INTERCOM_ASSIGN_OR_RETURN(
      std::unique_ptr<Database> db,
      OpenWith(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  if (sqlite3_db_readonly(db->db_, "main") == 1) {
    return Error(absl::StatusCode::kPermissionDenied, "STORAGE_NOT_WRITABLE",
                 path +
                     " can't be written: check its owner, mode and file "
                     "system");
  }
  int persist = 1;
  sqlite3_file_control(db->db_, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  INTERCOM_RETURN_IF_ERROR(UseWal(*db));
  INTERCOM_RETURN_IF_ERROR(
      db->Execute("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; "
                  "PRAGMA wal_autocheckpoint=0; PRAGMA temp_store=MEMORY; "
                  "PRAGMA cache_size=-16384; "
                  // Reads once, so that the -wal file is there.
                  "SELECT COUNT(*) FROM sqlite_schema"));
  // After the pragma, which sets a hook of its own.
  sqlite3_wal_hook(db->db_, &Database::OnWalCommit, db.get());
  return db;
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenReadOnly(
    const std::string& path) {
  INTERCOM_ASSIGN_OR_RETURN(std::unique_ptr<Database> db,
                            OpenWith(path, SQLITE_OPEN_READONLY));
  INTERCOM_RETURN_IF_ERROR(
      db->Execute("PRAGMA query_only=ON; PRAGMA temp_store=MEMORY"));
  return db;
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenDamaged(
    const std::string& path) {
  // For writing, or the log could not be read.
  INTERCOM_ASSIGN_OR_RETURN(std::unique_ptr<Database> db,
                            OpenWith(path, SQLITE_OPEN_READWRITE));
  sqlite3_db_config(db->db_, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  INTERCOM_RETURN_IF_ERROR(db->Execute("PRAGMA query_only=ON"));
  return db;
}

absl::StatusOr<std::unique_ptr<Database>> Database::OpenInMemory() {
  INTERCOM_ASSIGN_OR_RETURN(
      std::unique_ptr<Database> db,
      OpenWith(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE));
  INTERCOM_RETURN_IF_ERROR(db->Execute("PRAGMA foreign_keys=ON"));
  return db;
}

Database::~Database() {
  if (db_ == nullptr) return;
  // The last one to close leaves a single file: everything is in it. A failure
  // leaves the log for the next to open.
  int persist = 0;
  sqlite3_file_control(db_, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
  for (auto& [sql, compiled] : statements_) sqlite3_finalize(compiled->stmt);
  sqlite3_close_v2(db_);
}

absl::StatusOr<Statement> Database::Prepare(std::string_view sql) {
  const absl::string_view key(sql.data(), sql.size());
  const auto found = statements_.find(key);
  if (found != statements_.end() && !found->second->borrowed) {
    found->second->borrowed = true;
    return Statement(found->second.get());
  }
  auto compiled = std::make_unique<CompiledStatement>();
  const int code =
      sqlite3_prepare_v3(db_, sql.data(), sql.size(), SQLITE_PREPARE_PERSISTENT,
                         &compiled->stmt, nullptr);
  if (code != SQLITE_OK) return SqliteError(db_, code, sql);
  compiled->borrowed = true;
  if (found != statements_.end()) {
    compiled->cached = false;
    return Statement(compiled.release());
  }
  Statement statement(compiled.get());
  statements_.emplace(std::string(sql), std::move(compiled));
  return statement;
}

absl::Status Database::Execute(const std::string& sql) {
  const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return SqliteError(db_, code, sql);
  return absl::OkStatus();
}

int64_t Database::changes() const { return sqlite3_changes64(db_); }

int64_t Database::last_insert_rowid() const {
  return sqlite3_last_insert_rowid(db_);
}

bool Database::in_transaction() const {
  return sqlite3_get_autocommit(db_) == 0;
}

absl::StatusOr<Database::CheckpointResult> Database::CheckpointPassive() {
  int log = 0;
  int copied = 0;
  const int code = sqlite3_wal_checkpoint_v2(
      db_, "main", SQLITE_CHECKPOINT_PASSIVE, &log, &copied);
  if (code != SQLITE_OK) return SqliteError(db_, code, "checkpoint");
  return CheckpointResult{.log_frames = log, .copied_frames = copied};
}

absl::StatusOr<Database::IntegrityFindings> Database::CheckIntegrity(
    int most, std::function<bool()> should_stop) {
  IntegrityFindings findings;
  const auto ask = [](void* self) {
    return (*static_cast<std::function<bool()>*>(self))() ? 1 : 0;
  };
  sqlite3_progress_handler(db_, kProgressSteps, ask, &should_stop);
  sqlite3_stmt* check = nullptr;
  int code = sqlite3_prepare_v2(
      db_, ("PRAGMA integrity_check(" + std::to_string(most) + ")").c_str(), -1,
      &check, nullptr);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(check);
    if (code != SQLITE_ROW) break;
    const std::string line(
        reinterpret_cast<const char*>(sqlite3_column_text(check, 0)));
    if (line != "ok") findings.lines.push_back(line);
  }
  sqlite3_finalize(check);
  sqlite3_progress_handler(db_, 0, nullptr, nullptr);
  findings.complete = code == SQLITE_DONE;
  if (code == SQLITE_DONE || code == SQLITE_INTERRUPT) return findings;
  return SqliteError(db_, code, "integrity check");
}

int Database::OnWalCommit(void* self, sqlite3*, const char*, int frames) {
  static_cast<Database*>(self)->wal_frames_ = frames;
  return SQLITE_OK;
}

}  // namespace intercom
