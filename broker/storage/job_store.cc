#include "broker/storage/job_store.h"

#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

#define INTERCOM_JOB_COLUMNS                                            \
  "job_id, kind, root, session_id, name, requested_by, state, reason, " \
  "detail, created_at_us, updated_at_us, deadline_at_us, launcher, "    \
  "launch_token_hash, identity, told"

constexpr char kPutSql[] =
    "INSERT INTO jobs (" INTERCOM_JOB_COLUMNS
    ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (job_id) DO UPDATE SET "
    "  session_id = excluded.session_id, name = excluded.name, "
    "  state = excluded.state, reason = excluded.reason, "
    "  detail = excluded.detail, updated_at_us = excluded.updated_at_us, "
    "  identity = excluded.identity, told = MAX(told, excluded.told)";

constexpr char kFindSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS " FROM jobs WHERE job_id = ?";

constexpr char kPrefixSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs WHERE job_id >= ? AND job_id < ? ORDER BY job_id LIMIT ?";

constexpr char kTokenSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs WHERE launch_token_hash = ? AND launch_token_hash <> '' "
    "ORDER BY job_id LIMIT 1";

constexpr char kOpenSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs WHERE state < 8 OR state = 12 ORDER BY job_id";

constexpr char kUntoldSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs WHERE state >= 8 AND told < CASE state WHEN 12 THEN 1 ELSE 2 "
    "END ORDER BY job_id";

constexpr char kOpenOfSql[] = "SELECT " INTERCOM_JOB_COLUMNS
                              " FROM jobs WHERE session_id = ? AND root = ? "
                              "AND (state < 8 OR state = 12) ORDER BY job_id";

constexpr char kLatestOfSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs WHERE session_id = ? AND root = ? AND kind = ? "
    "ORDER BY created_at_us DESC, job_id LIMIT 1";

constexpr char kCountSql[] =
    "SELECT COUNT(*) FROM jobs WHERE root = ? AND kind = ? AND state < 8";

constexpr char kCountOpenSql[] =
    "SELECT COUNT(*) FROM jobs WHERE root = ? AND kind = ? "
    "AND (state < 8 OR state = 12)";

constexpr char kLatestSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs ORDER BY (state < 8 OR state = 12) DESC, created_at_us DESC, "
    "  job_id LIMIT ?";

constexpr char kLatestInSql[] =
    "SELECT " INTERCOM_JOB_COLUMNS
    " FROM jobs WHERE root = ? ORDER BY (state < 8 OR state = 12) DESC, "
    "  created_at_us DESC, job_id LIMIT ?";

// Whose a headless worker is, its launch alone tells.
constexpr char kPruneSql[] =
    "DELETE FROM jobs WHERE job_id IN (SELECT job_id FROM jobs "
    "WHERE state >= 8 AND state <> 12 AND updated_at_us < ? "
    "  AND NOT (launcher = 'headless' AND job_id IN "
    "    (SELECT launch_job_id FROM sessions)) "
    "ORDER BY job_id LIMIT ?)";

#undef INTERCOM_JOB_COLUMNS

JobRow ReadRow(const Statement& row) {
  JobRow job{.job_id = row.String(0),
             .kind = static_cast<v1::Job::Kind>(row.Int(1)),
             .root = row.String(2),
             .session_id = row.String(3),
             .name = row.String(4),
             .requested_by = row.String(5),
             .state = static_cast<v1::Job::State>(row.Int(6)),
             .reason = row.String(7),
             .detail = row.String(8),
             .created_at = row.Time(9),
             .updated_at = row.Time(10),
             .deadline_at = row.OptionalTime(11),
             .launcher = row.String(12),
             .launch_token_hash = row.String(13),
             .identity = {},
             .told = static_cast<Told>(row.Int(15))};
  // What is no identity proves none.
  if (!job.identity.ParseFromString(row.Bytes(14))) job.identity.Clear();
  return job;
}

absl::StatusOr<std::vector<JobRow>> ReadRows(Statement& rows) {
  std::vector<JobRow> jobs;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
    if (!row) return jobs;
    jobs.push_back(ReadRow(rows));
  }
}

absl::StatusOr<std::optional<JobRow>> ReadOne(Statement& rows) {
  INTERCOM_ASSIGN_OR_RETURN(const bool row, rows.Step());
  if (!row) return std::nullopt;
  return ReadRow(rows);
}

}  // namespace

absl::Status JobStore::Put(const JobRow& row) {
  const std::string identity = row.identity.SerializeAsString();
  INTERCOM_ASSIGN_OR_RETURN(Statement put, db_.Prepare(kPutSql));
  put.Bind(row.job_id, row.kind, row.root, row.session_id, row.name,
           row.requested_by, row.state, row.reason, row.detail, row.created_at,
           row.updated_at, row.deadline_at, row.launcher, row.launch_token_hash,
           Blob{identity}, static_cast<int>(row.told));
  return put.Run();
}

absl::StatusOr<std::optional<JobRow>> JobStore::Find(std::string_view job_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(job_id);
  return ReadOne(find);
}

absl::StatusOr<std::vector<JobRow>> JobStore::FindByPrefix(
    std::string_view prefix, int limit) {
  // Ids are ASCII: nothing that begins so comes behind this.
  const std::string end = std::string(prefix) + '\x7F';
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kPrefixSql));
  find.Bind(prefix, end, limit);
  return ReadRows(find);
}

absl::StatusOr<std::optional<JobRow>> JobStore::FindByToken(
    std::string_view hash) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kTokenSql));
  find.Bind(hash);
  return ReadOne(find);
}

absl::StatusOr<bool> JobStore::HasLaunched(std::string_view requested_by,
                                           std::string_view launcher) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT job_id FROM jobs "
                  "WHERE requested_by = ? AND launcher = ? LIMIT 1"));
  find.Bind(requested_by, launcher);
  return find.Step();
}

absl::StatusOr<std::vector<JobRow>> JobStore::Open() {
  INTERCOM_ASSIGN_OR_RETURN(Statement open, db_.Prepare(kOpenSql));
  open.Bind();
  return ReadRows(open);
}

absl::StatusOr<std::vector<JobRow>> JobStore::Untold() {
  INTERCOM_ASSIGN_OR_RETURN(Statement untold, db_.Prepare(kUntoldSql));
  untold.Bind();
  return ReadRows(untold);
}

absl::StatusOr<std::vector<JobRow>> JobStore::OpenOf(
    std::string_view root, std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement open, db_.Prepare(kOpenOfSql));
  open.Bind(session_id, root);
  return ReadRows(open);
}

absl::StatusOr<std::optional<JobRow>> JobStore::LatestOf(
    std::string_view root, std::string_view session_id, v1::Job::Kind kind) {
  INTERCOM_ASSIGN_OR_RETURN(Statement latest, db_.Prepare(kLatestOfSql));
  latest.Bind(session_id, root, kind);
  return ReadOne(latest);
}

absl::StatusOr<int> JobStore::CountOpen(std::string_view root,
                                        v1::Job::Kind kind) {
  INTERCOM_ASSIGN_OR_RETURN(Statement count, db_.Prepare(kCountOpenSql));
  count.Bind(root, kind);
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  return count.Int(0);
}

absl::StatusOr<int> JobStore::CountPending(std::string_view root,
                                           v1::Job::Kind kind) {
  INTERCOM_ASSIGN_OR_RETURN(Statement count, db_.Prepare(kCountSql));
  count.Bind(root, kind);
  INTERCOM_RETURN_IF_ERROR(count.Step().status());
  return count.Int(0);
}

absl::StatusOr<std::vector<JobRow>> JobStore::Latest(std::string_view root,
                                                     int limit) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement latest, db_.Prepare(root.empty() ? kLatestSql : kLatestInSql));
  if (root.empty()) {
    latest.Bind(limit);
  } else {
    latest.Bind(root, limit);
  }
  return ReadRows(latest);
}

absl::StatusOr<int> JobStore::Prune(absl::Time before, int limit) {
  INTERCOM_ASSIGN_OR_RETURN(Statement prune, db_.Prepare(kPruneSql));
  prune.Bind(before, limit);
  INTERCOM_RETURN_IF_ERROR(prune.Run());
  return static_cast<int>(db_.changes());
}

absl::Status HandoffStore::Put(std::string_view root,
                               std::string_view session_id,
                               const v1::Handoff& handoff) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement put,
      db_.Prepare("INSERT INTO handoffs (root, session_id, job_id, summary, "
                  "  updated_at_us) VALUES (?, ?, ?, ?, ?) "
                  "ON CONFLICT (root, session_id) DO UPDATE SET "
                  "  job_id = excluded.job_id, summary = excluded.summary, "
                  "  updated_at_us = excluded.updated_at_us"));
  put.Bind(root, session_id, handoff.job_id(), handoff.summary(),
           FromProto(handoff.updated_at()));
  return put.Run();
}

absl::StatusOr<std::optional<v1::Handoff>> HandoffStore::Find(
    std::string_view root, std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement find,
      db_.Prepare("SELECT job_id, summary, updated_at_us FROM handoffs "
                  "WHERE root = ? AND session_id = ?"));
  find.Bind(root, session_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (!row) return std::nullopt;
  v1::Handoff handoff;
  handoff.set_job_id(find.String(0));
  handoff.set_summary(find.String(1));
  *handoff.mutable_updated_at() = ToProto(find.Time(2));
  return handoff;
}

absl::Status HandoffStore::Remove(std::string_view root,
                                  std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement remove,
      db_.Prepare("DELETE FROM handoffs WHERE root = ? AND session_id = ?"));
  remove.Bind(root, session_id);
  return remove.Run();
}

}  // namespace intercom
