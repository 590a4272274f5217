#include "broker/storage/store_opening.h"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/base/status_macros.h"
#include "broker/storage/meta_store.h"
#include "broker/storage/migrator.h"
#include "broker/storage/salvage.h"
#include "broker/storage/store_checker.h"
#include "broker/storage/transaction.h"

namespace intercom {
namespace {

constexpr char kNoticeKey[] = "replacement_notice";
constexpr char kReplacedAtKey[] = "replaced_at_us";
constexpr absl::Duration kNoticeFor = absl::Hours(7 * 24);

// Page by page; damage inside of a value shows nowhere.
absl::Status CheckPages(Database& db) {
  INTERCOM_ASSIGN_OR_RETURN(Statement check,
                            db.Prepare("PRAGMA quick_check(1)"));
  check.Bind();
  INTERCOM_ASSIGN_OR_RETURN(const bool row, check.Step());
  if (row && check.Text(0) != "ok") {
    return Error(absl::StatusCode::kDataLoss, "STORAGE_CORRUPT",
                 absl::StrReplaceAll(check.String(0), {{"\n", " "}}));
  }
  return absl::OkStatus();
}

// What CheckPages() does not see: indexes and constraints.
absl::Status RepairSuspect(Database& db) {
  const std::string mark = SuspectPath(db.path());
  if (!std::filesystem::exists(mark)) return absl::OkStatus();
  const absl::Status repaired = db.Execute("REINDEX");
  // What breaks a constraint (INTERNAL) is damage. No room for it, and the
  // like: it can be tried again.
  if (!repaired.ok() && !absl::IsDataLoss(repaired) &&
      !absl::IsInternal(repaired)) {
    return repaired;
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto found,
                            db.CheckIntegrity(1, [] { return false; }));
  if (!repaired.ok() || !found.lines.empty()) {
    return Error(absl::StatusCode::kDataLoss, "STORAGE_CORRUPT",
                 repaired.ok() ? found.lines[0] : MessageOf(repaired));
  }
  SPDLOG_WARN("the indexes of {} were damaged and are made anew", db.path());
  std::error_code ignored;
  std::filesystem::remove(mark, ignored);
  return absl::OkStatus();
}

// Tables of a version were changed in place before the first release: what such
// a build left has the version, but not what belongs to it.
absl::Status CheckSchema(Database& db) {
  const auto migrations = AllMigrations();
  INTERCOM_ASSIGN_OR_RETURN(const int version, SchemaVersion(db));
  if (version == 0 || version > static_cast<int>(migrations.size())) {
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto model, Database::OpenInMemory());
  INTERCOM_RETURN_IF_ERROR(Migrate(*model, migrations.first(version)));
  INTERCOM_ASSIGN_OR_RETURN(const std::string found, DumpSchema(db));
  INTERCOM_ASSIGN_OR_RETURN(const std::string wanted, DumpSchema(*model));
  if (found == wanted) return absl::OkStatus();
  return Error(
      absl::StatusCode::kFailedPrecondition, "STORE_OF_OTHER_BUILD",
      absl::StrCat("a build from before the first release made ", db.path(),
                   ", and its tables are others. Nothing was changed: "
                   "move that file away and start again; mail that "
                   "waits in it is not taken along"));
}

absl::StatusOr<OpenedStore> OpenSound(const std::string& path, Random& random) {
  INTERCOM_ASSIGN_OR_RETURN(std::unique_ptr<Database> db, Database::Open(path));
  INTERCOM_RETURN_IF_ERROR(CheckPages(*db));
  INTERCOM_RETURN_IF_ERROR(RepairSuspect(*db));
  INTERCOM_RETURN_IF_ERROR(CheckSchema(*db));
  INTERCOM_RETURN_IF_ERROR(Migrate(*db, AllMigrations()));
  INTERCOM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db));
  INTERCOM_ASSIGN_OR_RETURN(std::string id, MetaStore(*db).StoreId(random));
  INTERCOM_RETURN_IF_ERROR(transaction.Commit());
  OpenedStore store;
  store.db = std::move(db);
  store.store_id = std::move(id);
  return store;
}

absl::Status Rename(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return absl::OkStatus();
  return ErrnoError(errno, "move " + from + " to " + to);
}

void RemoveDatabase(const std::string& path) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) {
    std::filesystem::remove(path + suffix, ignored);
  }
}

std::string AsidePath(const std::string& path, absl::Time now) {
  const std::string base =
      path + ".corrupt-" +
      absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone());
  std::string aside = base;
  for (int i = 2; std::filesystem::exists(aside); ++i) {
    aside = absl::StrCat(base, "-", i);
  }
  return aside;
}

std::string NoticeOf(const std::string& path, const std::string& aside,
                     const absl::Status& damage, const Salvaged& salvaged) {
  std::string notice = absl::StrCat(
      "The store ", path, " was damaged (", MessageOf(damage),
      "). It is kept as ", aside, ", and a new one took its place. ",
      salvaged.deliveries, " undelivered envelopes were saved from it");
  if (salvaged.of_unknown_state > 0) {
    absl::StrAppend(&notice, ", of which ", salvaged.of_unknown_state,
                    " may have been delivered before");
  }
  if (salvaged.lost > 0) {
    absl::StrAppend(&notice, "; ", salvaged.lost,
                    " more could not be read and are lost");
  }
  return notice + ". The history before this is only in the old file.";
}

// Makes a new database at `fresh_path` with what can be saved. Everything is in
// the file itself at the end, its log is empty.
absl::Status MakeReplacement(const std::string& path,
                             const std::string& fresh_path,
                             const std::string& aside,
                             const absl::Status& damage, absl::Time now,
                             Random& random) {
  RemoveDatabase(fresh_path);
  INTERCOM_ASSIGN_OR_RETURN(OpenedStore fresh, OpenSound(fresh_path, random));
  INTERCOM_ASSIGN_OR_RETURN(Transaction transaction,
                            Transaction::Begin(*fresh.db));
  INTERCOM_ASSIGN_OR_RETURN(const Salvaged salvaged, Salvage(path, *fresh.db));
  const std::string notice = NoticeOf(path, aside, damage, salvaged);
  SPDLOG_WARN("{}", notice);
  MetaStore meta(*fresh.db);
  INTERCOM_RETURN_IF_ERROR(meta.Set(kNoticeKey, notice));
  INTERCOM_RETURN_IF_ERROR(
      meta.Set(kReplacedAtKey, absl::StrCat(absl::ToUnixMicros(now))));
  INTERCOM_RETURN_IF_ERROR(transaction.Commit());
  INTERCOM_ASSIGN_OR_RETURN(const auto copied, fresh.db->CheckpointPassive());
  if (copied.complete()) return absl::OkStatus();
  return Error(absl::StatusCode::kUnavailable, "STORAGE_BUSY",
               fresh_path + " is in use by another process");
}

// Moves the damaged database at `path` away, if it is still there, and the
// replacement to its place. Can be cut off and repeated at any point.
absl::Status Exchange(const std::string& path, const std::string& fresh_path,
                      const std::string& aside) {
  // The database first: as long as it is not in its place, the next start goes
  // on here. Its log must be gone before the new one comes, whose it would
  // seem.
  if (std::filesystem::exists(path)) {
    INTERCOM_RETURN_IF_ERROR(Rename(path, aside));
  }
  if (std::filesystem::exists(path + "-wal")) {
    INTERCOM_RETURN_IF_ERROR(Rename(path + "-wal", aside + "-wal"));
  }
  std::error_code ignored;
  std::filesystem::remove(path + "-shm", ignored);
  INTERCOM_RETURN_IF_ERROR(Rename(fresh_path, path));
  RemoveDatabase(fresh_path);
  return absl::OkStatus();
}

absl::Status AddNotices(absl::Time now, OpenedStore& store) {
  MetaStore meta(*store.db);
  INTERCOM_ASSIGN_OR_RETURN(const auto notice, meta.Get(kNoticeKey));
  INTERCOM_ASSIGN_OR_RETURN(const auto replaced_at, meta.Get(kReplacedAtKey));
  int64_t replaced_at_us = 0;
  if (notice.has_value() && replaced_at.has_value() &&
      absl::SimpleAtoi(*replaced_at, &replaced_at_us) &&
      now < absl::FromUnixMicros(replaced_at_us) + kNoticeFor) {
    store.notices.push_back(*notice);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedStore> OpenStore(const std::string& path, absl::Time now,
                                      Random& random) {
  const std::string fresh_path = path + ".new";
  // A replacement was made, and cut off on its way to its place.
  if (std::filesystem::exists(fresh_path) && !std::filesystem::exists(path)) {
    INTERCOM_RETURN_IF_ERROR(Exchange(path, fresh_path, AsidePath(path, now)));
  }
  absl::StatusOr<OpenedStore> store = OpenSound(path, random);
  if (absl::IsDataLoss(store.status())) {
    const std::string aside = AsidePath(path, now);
    INTERCOM_RETURN_IF_ERROR(
        MakeReplacement(path, fresh_path, aside, store.status(), now, random));
    INTERCOM_RETURN_IF_ERROR(Exchange(path, fresh_path, aside));
    store = OpenSound(path, random);
  }
  INTERCOM_RETURN_IF_ERROR(store.status());
  INTERCOM_RETURN_IF_ERROR(AddNotices(now, *store));
  return store;
}

}  // namespace intercom
