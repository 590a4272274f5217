#include "broker/storage/sqlite_error.h"

#include <cerrno>
#include <string>
#include <system_error>

#include "broker/base/error.h"

namespace intercom {
namespace {

using absl::StatusCode;

absl::Status IoError(int system_errno, const std::string& message) {
  switch (system_errno) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Error(StatusCode::kResourceExhausted, "STORAGE_FULL", message);
    case EACCES:
    case EPERM:
    case EROFS:
      return Error(StatusCode::kPermissionDenied, "STORAGE_NOT_WRITABLE",
                   message);
    default:
      return Error(StatusCode::kUnavailable, "STORAGE_UNREADABLE", message);
  }
}

std::string Describe(sqlite3* db, int code, std::string_view what) {
  std::string message = std::string(what) + ": " + sqlite3_errstr(code);
  if (db == nullptr) return message;
  // The text of the connection is about its latest call, which is `code`
  // unless the error is one of our own checks.
  if (sqlite3_extended_errcode(db) == code) {
    message = std::string(what) + ": " + sqlite3_errmsg(db);
  }
  const int primary = code & 0xff;
  const int system_errno = sqlite3_system_errno(db);
  if (system_errno != 0 &&
      (primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN)) {
    message += " (" + std::generic_category().message(system_errno) + ")";
  }
  return message;
}

}  // namespace

absl::Status SqliteError(sqlite3* db, int code, std::string_view what) {
  const std::string message = Describe(db, code, what);
  switch (code & 0xff) {
    case SQLITE_FULL:
      return Error(StatusCode::kResourceExhausted, "STORAGE_FULL", message);
    case SQLITE_NOMEM:
      return Error(StatusCode::kResourceExhausted, "OUT_OF_MEMORY", message);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return Error(StatusCode::kDataLoss, "STORAGE_CORRUPT", message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error(StatusCode::kUnavailable, "STORAGE_BUSY", message);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
      return Error(StatusCode::kPermissionDenied, "STORAGE_NOT_WRITABLE",
                   message);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
      return IoError(db == nullptr ? 0 : sqlite3_system_errno(db), message);
    default:
      return Error(StatusCode::kInternal, "STORAGE_BUG", message);
  }
}

}  // namespace intercom
