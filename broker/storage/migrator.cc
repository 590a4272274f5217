#include "broker/storage/migrator.h"

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/storage/transaction.h"

namespace intercom {
namespace {

absl::Status Apply(Database& db, const Migration& migration) {
  INTERCOM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  const absl::Status applied = db.Execute(std::string(migration.sql));
  if (!applied.ok()) {
    return Error(
        applied.code(), ReasonOf(applied),
        "migration " + std::string(migration.name) + ": " + MessageOf(applied));
  }
  // A pragma takes no parameters.
  INTERCOM_RETURN_IF_ERROR(
      db.Execute(absl::StrCat("PRAGMA user_version=", migration.version)));
  return transaction.Commit();
}

}  // namespace

absl::StatusOr<int> SchemaVersion(Database& db) {
  INTERCOM_ASSIGN_OR_RETURN(Statement version,
                            db.Prepare("PRAGMA user_version"));
  INTERCOM_RETURN_IF_ERROR(version.Step().status());
  return version.Int(0);
}

absl::Status Migrate(Database& db, std::span<const Migration> migrations) {
  INTERCOM_ASSIGN_OR_RETURN(const int present, SchemaVersion(db));
  const int newest = migrations.empty() ? 0 : migrations.back().version;
  if (present > newest) {
    return Error(
        absl::StatusCode::kFailedPrecondition, "STORE_NEWER",
        absl::StrCat(db.path(), " has version ", present,
                     ", this program knows versions up to ", newest,
                     ": a newer pi-intercom made it. Run that one, or choose "
                     "another PI_INTERCOM_HOME."));
  }
  for (const Migration& migration : migrations) {
    if (migration.version <= present) continue;
    INTERCOM_RETURN_IF_ERROR(Apply(db, migration));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> DumpSchema(Database& db) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement schema,
      db.Prepare("SELECT sql FROM sqlite_schema WHERE sql <> '' "
                 "ORDER BY type DESC, name"));
  std::string dump;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, schema.Step());
    if (!row) return dump;
    dump += schema.String(0) + ";\n";
  }
}

}  // namespace intercom
