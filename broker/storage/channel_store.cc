#include "broker/storage/channel_store.h"

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr char kFindSql[] =
    "SELECT revision, payload, committed_by, committed_at_us FROM channels "
    "WHERE scope = ? AND namespace = ?";

constexpr char kRevisionSql[] =
    "SELECT revision FROM channels WHERE scope = ? AND namespace = ?";

constexpr char kSaveSql[] =
    "INSERT INTO channels (scope, namespace, revision, payload, committed_by, "
    "  committed_at_us) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (scope, namespace) DO UPDATE SET "
    "  revision = excluded.revision, payload = excluded.payload, "
    "  committed_by = excluded.committed_by, "
    "  committed_at_us = excluded.committed_at_us";

constexpr char kListSql[] =
    "SELECT scope, namespace, revision, length(payload) FROM channels "
    "ORDER BY scope, namespace";

}  // namespace

absl::StatusOr<std::optional<ChannelRow>> ChannelStore::Find(
    const ChannelKey& key) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(key.scope, key.name_space);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (!row) return std::nullopt;
  return ChannelRow{.revision = find.Int64(0),
                    .payload = find.Bytes(1),
                    .committed_by = find.String(2),
                    .committed_at = find.Time(3)};
}

absl::StatusOr<int64_t> ChannelStore::Revision(const ChannelKey& key) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kRevisionSql));
  find.Bind(key.scope, key.name_space);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  return row ? find.Int64(0) : 0;
}

absl::Status ChannelStore::Save(const ChannelKey& key, const ChannelRow& row) {
  INTERCOM_ASSIGN_OR_RETURN(Statement save, db_.Prepare(kSaveSql));
  save.Bind(key.scope, key.name_space, row.revision, Blob{row.payload},
            row.committed_by, row.committed_at);
  return save.Run();
}

absl::StatusOr<int64_t> ChannelStore::Count() {
  INTERCOM_ASSIGN_OR_RETURN(Statement count,
                            db_.Prepare("SELECT COUNT(*) FROM channels"));
  count.Bind();
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  return count.Int64(0);
}

absl::StatusOr<std::vector<ChannelStateSize>> ChannelStore::List() {
  INTERCOM_ASSIGN_OR_RETURN(Statement list, db_.Prepare(kListSql));
  list.Bind();
  std::vector<ChannelStateSize> found;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, list.Step());
    if (!row) return found;
    found.push_back({.key = {list.String(0), list.String(1)},
                     .revision = list.Int64(2),
                     .bytes = list.Int64(3)});
  }
}

}  // namespace intercom
