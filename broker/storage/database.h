#ifndef PI_INTERCOM_BROKER_STORAGE_DATABASE_H_
#define PI_INTERCOM_BROKER_STORAGE_DATABASE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/storage/statement.h"

struct sqlite3;

namespace intercom {

// One SQLite connection with its compiled statements.
//
// May move between threads, but only one thread uses it at a time. Nothing in
// this process may open and close the database's file except through here: that
// would drop SQLite's locks.
//
// Errors of this class and of Statement, Transaction and every store:
// * RESOURCE_EXHAUSTED STORAGE_FULL: the disk or the quota is full.
// * DATA_LOSS STORAGE_CORRUPT: the file is damaged or no database.
// * UNAVAILABLE STORAGE_BUSY: another process holds the database.
// * PERMISSION_DENIED STORAGE_NOT_WRITABLE: rights or a read-only file system.
// * UNAVAILABLE STORAGE_UNREADABLE: it can't be opened or read for another
//   reason.
// * INTERNAL: a statement is wrong or breaks a constraint; a bug.
class Database {
 public:
  // Opens, or creates with mode 0600, a database for writing: WAL, synchronous
  // NORMAL (a commit survives the end of the process at once, a loss of power
  // only after WalSync), foreign keys on, no automatic checkpoint, and one -wal
  // file for as long as it is open.
  static absl::StatusOr<std::unique_ptr<Database>> Open(
      const std::string& path);

  // Opens an existing database for reading beside its writer. Waits at most
  // 1 s for locks.
  static absl::StatusOr<std::unique_ptr<Database>> OpenReadOnly(
      const std::string& path);

  // Opens what is left of a database, to read from it. Leaves its log in place.
  static absl::StatusOr<std::unique_ptr<Database>> OpenDamaged(
      const std::string& path);

  // A database that is lost at the end. Shows nothing about durability.
  static absl::StatusOr<std::unique_ptr<Database>> OpenInMemory();

  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // Lends a compiled statement; the text is compiled at first use. `sql` is one
  // constant of the program: the cache holds every text for good.
  absl::StatusOr<Statement> Prepare(std::string_view sql);

  // Runs one or more statements without parameters, not cached.
  absl::Status Execute(const std::string& sql);

  // Rows that the last finished INSERT, UPDATE or DELETE changed.
  int64_t changes() const;
  int64_t last_insert_rowid() const;

  // False after SQLite rolled a transaction back by itself (a full disk, say).
  bool in_transaction() const;

  // Frames in the log as of this connection's last commit.
  int64_t wal_frames() const { return wal_frames_; }

  struct CheckpointResult {
    int64_t log_frames = 0;
    int64_t copied_frames = 0;
    bool complete() const { return copied_frames >= log_frames; }
  };
  // Copies what it can from the log into the database without blocking readers
  // or the writer. Blocks for the disk. UNAVAILABLE STORAGE_BUSY when another
  // connection checkpoints.
  absl::StatusOr<CheckpointResult> CheckpointPassive();

  struct IntegrityFindings {
    // What SQLite found wrong.
    std::vector<std::string> lines;
    bool complete = false;
  };
  // Has SQLite check everything: pages, indexes, constraints. Ends early once
  // `should_stop`, asked now and then, says so, or `most` things are wrong.
  absl::StatusOr<IntegrityFindings> CheckIntegrity(
      int most, std::function<bool()> should_stop);

  // Empty for a database in memory.
  const std::string& path() const { return path_; }
  bool in_memory() const { return path_.empty(); }

 private:
  explicit Database(std::string path) : path_(std::move(path)) {}
  static absl::StatusOr<std::unique_ptr<Database>> OpenWith(
      const std::string& path, int flags);
  static int OnWalCommit(void* self, sqlite3*, const char*, int frames);

  std::string path_;
  sqlite3* db_ = nullptr;
  int64_t wal_frames_ = 0;
  absl::flat_hash_map<std::string, std::unique_ptr<CompiledStatement>>
      statements_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_DATABASE_H_
