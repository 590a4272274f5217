#ifndef PI_INTERCOM_BROKER_STORAGE_TRANSACTION_H_
#define PI_INTERCOM_BROKER_STORAGE_TRANSACTION_H_

#include <utility>

#include "absl/status/statusor.h"
#include "broker/storage/database.h"

namespace intercom {

// A transaction that is rolled back unless Commit returned OK.
class Transaction {
 public:
  // Takes the write lock at once. `db` must outlive the transaction.
  static absl::StatusOr<Transaction> Begin(Database& db);
  // One consistent view for reading; takes no write lock.
  static absl::StatusOr<Transaction> BeginRead(Database& db);

  Transaction(Transaction&& other) noexcept
      : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

  // OK: every change is in the log. Otherwise the rollback stays armed.
  absl::Status Commit();

 private:
  explicit Transaction(Database& db) : db_(&db) {}
  Database* db_;
};

// Part of a transaction that is undone alone unless Release returned OK.
// Savepoints end in the reverse order of their beginnings.
class Savepoint {
 public:
  static absl::StatusOr<Savepoint> Begin(Database& db);

  Savepoint(Savepoint&& other) noexcept
      : db_(std::exchange(other.db_, nullptr)) {}
  Savepoint& operator=(Savepoint&&) = delete;
  ~Savepoint();

  // Keeps the changes as part of the transaction.
  absl::Status Release();

 private:
  explicit Savepoint(Database& db) : db_(&db) {}
  Database* db_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_TRANSACTION_H_
