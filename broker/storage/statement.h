#ifndef PI_INTERCOM_BROKER_STORAGE_STATEMENT_H_
#define PI_INTERCOM_BROKER_STORAGE_STATEMENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

struct sqlite3_stmt;

namespace intercom {

// A compiled statement and whether somebody executes it. Owned by Database.
struct CompiledStatement {
  sqlite3_stmt* stmt = nullptr;
  bool borrowed = false;
  // False for a second execution of a text whose first is still under way: its
  // statement is finalized at the end.
  bool cached = true;
};

// Bytes to bind as a BLOB. Not copied: they must outlive the execution.
struct Blob {
  std::string_view bytes;
};

// One execution of a compiled statement, borrowed from a Database, which must
// outlive it. The destructor resets the statement and gives it back. Used on
// the database's thread only.
class Statement {
 public:
  explicit Statement(CompiledStatement* compiled) : compiled_(compiled) {}
  Statement(Statement&& other) noexcept
      : compiled_(std::exchange(other.compiled_, nullptr)),
        error_(other.error_) {}
  Statement& operator=(Statement&&) = delete;
  ~Statement();

  // Binds every parameter from the first to the last and makes the statement
  // ready to run (again). A wrong count or a failure is reported by the next
  // Step. Takes integers, bool, enums, absl::Time (stored as microseconds,
  // nullopt as 0), Blob and text. Text is not copied and must outlive the
  // execution, except a temporary std::string, which is copied.
  template <typename... Values>
  void Bind(Values&&... values) {
    Begin(sizeof...(values));
    int index = 0;
    (BindOne(++index, std::forward<Values>(values)), ...);
  }

  // Moves to the next row: true when there is one, false when the statement is
  // done. Errors as described at Database.
  absl::StatusOr<bool> Step();

  // Runs a statement that gives no rows, or whose rows do not matter.
  absl::Status Run();

  // Columns of the present row, from 0. A view is valid until the next Step.
  int64_t Int64(int column) const;
  int Int(int column) const { return static_cast<int>(Int64(column)); }
  bool Bool(int column) const { return Int64(column) != 0; }
  std::string_view Text(int column) const;
  std::string String(int column) const { return std::string(Text(column)); }
  // The bytes of a BLOB.
  std::string Bytes(int column) const;
  absl::Time Time(int column) const {
    return absl::FromUnixMicros(Int64(column));
  }
  // nullopt for 0, which stands for "never" in our tables.
  std::optional<absl::Time> OptionalTime(int column) const;

 private:
  void Begin(int count);
  void BindInt64(int index, int64_t value);
  void BindText(int index, std::string_view text, bool copy);
  void BindBlob(int index, std::string_view bytes);

  template <typename Value>
  void BindOne(int index, Value&& value) {
    using Plain = std::decay_t<Value>;
    if constexpr (std::is_integral_v<Plain> || std::is_enum_v<Plain>) {
      BindInt64(index, static_cast<int64_t>(value));
    } else if constexpr (std::is_same_v<Plain, absl::Time>) {
      BindInt64(index, absl::ToUnixMicros(value));
    } else if constexpr (std::is_same_v<Plain, std::optional<absl::Time>>) {
      BindInt64(index, value.has_value() ? absl::ToUnixMicros(*value) : 0);
    } else if constexpr (std::is_same_v<Plain, Blob>) {
      BindBlob(index, value.bytes);
    } else {
      BindText(index, value,
               std::is_same_v<Plain, std::string> &&
                   std::is_rvalue_reference_v<Value&&>);
    }
  }

  CompiledStatement* compiled_;
  int error_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_STATEMENT_H_
