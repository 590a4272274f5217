#include "broker/storage/statement.h"

#include <memory>

#include "broker/base/status_macros.h"
#include "broker/storage/sqlite_error.h"

namespace intercom {

Statement::~Statement() {
  if (compiled_ == nullptr) return;
  if (!compiled_->cached) {
    const std::unique_ptr<CompiledStatement> owned(compiled_);
    sqlite3_finalize(owned->stmt);
    return;
  }
  sqlite3_reset(compiled_->stmt);
  compiled_->borrowed = false;
}

void Statement::Begin(int count) {
  sqlite3_reset(compiled_->stmt);
  error_ = count == sqlite3_bind_parameter_count(compiled_->stmt)
               ? SQLITE_OK
               : SQLITE_RANGE;
}

void Statement::BindInt64(int index, int64_t value) {
  if (error_ == SQLITE_OK) {
    error_ = sqlite3_bind_int64(compiled_->stmt, index, value);
  }
}

void Statement::BindText(int index, std::string_view text, bool copy) {
  if (error_ != SQLITE_OK) return;
  // A null pointer would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  error_ =
      sqlite3_bind_text64(compiled_->stmt, index, data, text.size(),
                          copy ? SQLITE_TRANSIENT : SQLITE_STATIC, SQLITE_UTF8);
}

void Statement::BindBlob(int index, std::string_view bytes) {
  if (error_ != SQLITE_OK) return;
  // A null pointer would bind NULL.
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  error_ = sqlite3_bind_blob64(compiled_->stmt, index, data, bytes.size(),
                               SQLITE_STATIC);
}

absl::StatusOr<bool> Statement::Step() {
  sqlite3* db = sqlite3_db_handle(compiled_->stmt);
  if (error_ != SQLITE_OK) {
    return SqliteError(db, error_, sqlite3_sql(compiled_->stmt));
  }
  const int code = sqlite3_step(compiled_->stmt);
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return SqliteError(db, code, sqlite3_sql(compiled_->stmt));
}

absl::Status Statement::Run() {
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, Step());
    if (!row) return absl::OkStatus();
  }
}

int64_t Statement::Int64(int column) const {
  return sqlite3_column_int64(compiled_->stmt, column);
}

std::string_view Statement::Text(int column) const {
  const unsigned char* text = sqlite3_column_text(compiled_->stmt, column);
  if (text == nullptr) return {};
  return {reinterpret_cast<const char*>(text),
          static_cast<size_t>(sqlite3_column_bytes(compiled_->stmt, column))};
}

std::string Statement::Bytes(int column) const {
  const void* bytes = sqlite3_column_blob(compiled_->stmt, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<size_t>(sqlite3_column_bytes(compiled_->stmt, column))};
}

std::optional<absl::Time> Statement::OptionalTime(int column) const {
  const int64_t micros = Int64(column);
  if (micros == 0) return std::nullopt;
  return absl::FromUnixMicros(micros);
}

}  // namespace intercom
