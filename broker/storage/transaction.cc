#include "broker/storage/transaction.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

absl::Status Run(Database& db, std::string_view sql) {
  INTERCOM_ASSIGN_OR_RETURN(Statement statement, db.Prepare(sql));
  return statement.Run();
}

}  // namespace

absl::StatusOr<Transaction> Transaction::Begin(Database& db) {
  INTERCOM_RETURN_IF_ERROR(Run(db, "BEGIN IMMEDIATE"));
  return Transaction(db);
}

absl::StatusOr<Transaction> Transaction::BeginRead(Database& db) {
  INTERCOM_RETURN_IF_ERROR(Run(db, "BEGIN DEFERRED"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // SQLite may have rolled back by itself. A rollback that fails leaves nothing
  // to do here: the next BEGIN tells.
  if (db_ != nullptr && db_->in_transaction()) {
    Run(*db_, "ROLLBACK").IgnoreError();
  }
}

absl::Status Transaction::Commit() {
  INTERCOM_RETURN_IF_ERROR(Run(*db_, "COMMIT"));
  db_ = nullptr;
  return absl::OkStatus();
}

absl::StatusOr<Savepoint> Savepoint::Begin(Database& db) {
  INTERCOM_RETURN_IF_ERROR(Run(db, "SAVEPOINT part"));
  return Savepoint(db);
}

Savepoint::~Savepoint() {
  if (db_ == nullptr || !db_->in_transaction()) return;
  Run(*db_, "ROLLBACK TO part").IgnoreError();
  Run(*db_, "RELEASE part").IgnoreError();
}

absl::Status Savepoint::Release() {
  INTERCOM_RETURN_IF_ERROR(Run(*db_, "RELEASE part"));
  db_ = nullptr;
  return absl::OkStatus();
}

}  // namespace intercom
