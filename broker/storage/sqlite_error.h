#ifndef PI_INTERCOM_BROKER_STORAGE_SQLITE_ERROR_H_
#define PI_INTERCOM_BROKER_STORAGE_SQLITE_ERROR_H_

#include <sqlite3.h>

#include <string_view>

#include "absl/status/status.h"

namespace intercom {

// The status, as described at Database, for the extended result `code` that
// `db` (may be null) just gave; `what` says what was tried. For .cc files of
// this room only.
absl::Status SqliteError(sqlite3* db, int code, std::string_view what);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_SQLITE_ERROR_H_
