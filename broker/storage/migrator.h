#ifndef PI_INTERCOM_BROKER_STORAGE_MIGRATOR_H_
#define PI_INTERCOM_BROKER_STORAGE_MIGRATOR_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "broker/storage/database.h"

namespace intercom {

// One file of migrations/, NNNN_name.sql, compiled in.
struct Migration {
  int version;
  std::string_view name;
  std::string_view sql;
};

// Every migration of this program, by version from 1.
std::span<const Migration> AllMigrations();

// Brings `db` to the last of `migrations`, each in a transaction of its own
// with PRAGMA user_version. A failing script leaves version and tables as they
// were. FAILED_PRECONDITION STORE_NEWER: a newer program made the database;
// the message names both versions, nothing was changed.
absl::Status Migrate(Database& db, std::span<const Migration> migrations);

// The version that `db` has: the last migration that ran, 0 for an empty one.
absl::StatusOr<int> SchemaVersion(Database& db);

// The statements that make the tables and indexes of `db`, by kind and name.
absl::StatusOr<std::string> DumpSchema(Database& db);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_MIGRATOR_H_
