#include "broker/storage/meta_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr char kStoreIdKey[] = "store_id";

}  // namespace

absl::StatusOr<std::string> MetaStore::StoreId(Random& random) {
  INTERCOM_ASSIGN_OR_RETURN(std::optional<std::string> id, Get(kStoreIdKey));
  if (id.has_value()) return *std::move(id);
  const std::string made = NewUuid(random);
  INTERCOM_RETURN_IF_ERROR(Set(kStoreIdKey, made));
  return made;
}

absl::StatusOr<std::optional<std::string>> MetaStore::Get(
    std::string_view key) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement get, db_.Prepare("SELECT value FROM meta WHERE key = ?"));
  get.Bind(key);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, get.Step());
  if (!row) return std::nullopt;
  return get.String(0);
}

absl::Status MetaStore::Set(std::string_view key, std::string_view value) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement set, db_.Prepare("INSERT INTO meta (key, value) VALUES (?, ?) "
                                 "ON CONFLICT (key) DO UPDATE "
                                 "SET value = excluded.value"));
  set.Bind(key, value);
  return set.Run();
}

}  // namespace intercom
