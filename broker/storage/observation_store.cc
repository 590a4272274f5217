#include "broker/storage/observation_store.h"

#include <utility>

#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

// Two integers, the heads of row and index entry.
constexpr int64_t kBytesBesideTexts = 48;

#define INTERCOM_OBSERVATION_COLUMNS \
  "at_us, root, session_id, name, kind, phase, label, outcome"

constexpr char kAddSql[] =
    "INSERT INTO observations (" INTERCOM_OBSERVATION_COLUMNS
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)";

constexpr char kListSql[] = "SELECT " INTERCOM_OBSERVATION_COLUMNS
                            " FROM observations "
                            "ORDER BY observation_id DESC LIMIT ?";
constexpr char kListOfSessionSql[] = "SELECT " INTERCOM_OBSERVATION_COLUMNS
                                     " FROM observations WHERE session_id = ? "
                                     "ORDER BY observation_id DESC LIMIT ?";
constexpr char kLastActivitySql[] =
    "SELECT " INTERCOM_OBSERVATION_COLUMNS
    " FROM observations WHERE session_id = ? AND kind = 'activity' "
    "ORDER BY observation_id DESC LIMIT 1";

#undef INTERCOM_OBSERVATION_COLUMNS

// Session id and kind are in the index too.
#define INTERCOM_OBSERVATION_BYTES                                          \
  "(48 + LENGTH(CAST(root AS BLOB)) + 2 * LENGTH(CAST(session_id AS BLOB))" \
  " + LENGTH(CAST(name AS BLOB)) + 2 * LENGTH(CAST(kind AS BLOB))"          \
  " + LENGTH(CAST(phase AS BLOB)) + LENGTH(CAST(label AS BLOB))"            \
  " + LENGTH(CAST(outcome AS BLOB)))"

constexpr char kBytesSql[] =
    "SELECT COALESCE(SUM(" INTERCOM_OBSERVATION_BYTES "), 0) FROM observations";
constexpr char kOldestSql[] =
    "SELECT observation_id, at_us, " INTERCOM_OBSERVATION_BYTES
    " FROM observations ORDER BY observation_id LIMIT ?";

#undef INTERCOM_OBSERVATION_BYTES

v1::Observation ReadRow(const Statement& row) {
  v1::Observation observation;
  *observation.mutable_at() = ToProto(row.Time(0));
  observation.set_workspace_root(row.String(1));
  observation.set_session_id(row.String(2));
  observation.set_name(row.String(3));
  observation.set_kind(row.String(4));
  observation.set_phase(row.String(5));
  observation.set_label(row.String(6));
  observation.set_outcome(row.String(7));
  return observation;
}

}  // namespace

absl::Status ObservationStore::Add(const v1::Observation& observation) {
  INTERCOM_ASSIGN_OR_RETURN(Statement add, db_.Prepare(kAddSql));
  add.Bind(FromProto(observation.at()), observation.workspace_root(),
           observation.session_id(), observation.name(), observation.kind(),
           observation.phase(), observation.label(), observation.outcome());
  return add.Run();
}

absl::StatusOr<std::vector<v1::Observation>> ObservationStore::List(
    std::string_view session_id, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement list,
      db_.Prepare(session_id.empty() ? kListSql : kListOfSessionSql));
  if (session_id.empty()) {
    list.Bind(limit);
  } else {
    list.Bind(session_id, limit);
  }
  std::vector<v1::Observation> found;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, list.Step());
    if (!row) return found;
    found.push_back(ReadRow(list));
  }
}

absl::StatusOr<std::optional<v1::Observation>> ObservationStore::LastActivity(
    std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement last, db_.Prepare(kLastActivitySql));
  last.Bind(session_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, last.Step());
  if (!row) return std::nullopt;
  return ReadRow(last);
}

int64_t ObservationStore::BytesOf(const v1::Observation& observation) {
  return kBytesBesideTexts +
         static_cast<int64_t>(
             observation.workspace_root().size() +
             2 * observation.session_id().size() + observation.name().size() +
             2 * observation.kind().size() + observation.phase().size() +
             observation.label().size() + observation.outcome().size());
}

absl::StatusOr<int64_t> ObservationStore::Bytes() {
  INTERCOM_ASSIGN_OR_RETURN(Statement bytes, db_.Prepare(kBytesSql));
  bytes.Bind();
  INTERCOM_RETURN_IF_ERROR(bytes.Step().status());
  return bytes.Int64(0);
}

absl::StatusOr<ObservationStore::Pruned> ObservationStore::Prune(
    absl::Time older_than, int64_t excess_bytes, int limit) {
  Pruned pruned;
  int64_t last_id = 0;
  {
    INTERCOM_ASSIGN_OR_RETURN(Statement oldest, db_.Prepare(kOldestSql));
    oldest.Bind(limit);
    while (true) {
      INTERCOM_ASSIGN_OR_RETURN(const bool row, oldest.Step());
      if (!row ||
          (oldest.Time(1) >= older_than && pruned.bytes >= excess_bytes)) {
        break;
      }
      last_id = oldest.Int64(0);
      ++pruned.rows;
      pruned.bytes += oldest.Int64(2);
    }
  }
  if (pruned.rows == 0) return pruned;
  INTERCOM_ASSIGN_OR_RETURN(
      Statement remove,
      db_.Prepare("DELETE FROM observations WHERE observation_id <= ?"));
  remove.Bind(last_id);
  INTERCOM_RETURN_IF_ERROR(remove.Run());
  return pruned;
}

}  // namespace intercom
