#include "broker/storage/report_store.h"

#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

constexpr char kSaveSql[] =
    "INSERT INTO reports (root, session_id, status, summary, reported_at_us, "
    "  answered_at_us) VALUES (?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (root, session_id) DO UPDATE SET "
    "  status = excluded.status, summary = excluded.summary, "
    "  reported_at_us = excluded.reported_at_us, "
    "  answered_at_us = excluded.answered_at_us";

constexpr char kFindSql[] =
    "SELECT status, summary, reported_at_us, answered_at_us FROM reports "
    "WHERE root = ? AND session_id = ?";

constexpr char kAllSql[] =
    "SELECT root, session_id, status, reported_at_us, answered_at_us "
    "FROM reports WHERE status <> ? ORDER BY root, session_id";

constexpr char kAnsweredSql[] =
    "UPDATE reports SET answered_at_us = ? "
    "WHERE root = ? AND session_id = ? AND answered_at_us = 0";

}  // namespace

absl::Status ReportStore::Save(std::string_view root,
                               std::string_view session_id,
                               const v1::Report& report) {
  std::optional<absl::Time> answered_at;
  if (report.has_answered_at()) answered_at = FromProto(report.answered_at());
  INTERCOM_ASSIGN_OR_RETURN(Statement save, db_.Prepare(kSaveSql));
  save.Bind(root, session_id, report.status(), report.summary(),
            FromProto(report.reported_at()), answered_at);
  return save.Run();
}

absl::StatusOr<std::optional<v1::Report>> ReportStore::Find(
    std::string_view root, std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(Statement find, db_.Prepare(kFindSql));
  find.Bind(root, session_id);
  INTERCOM_ASSIGN_OR_RETURN(const bool row, find.Step());
  if (!row) return std::nullopt;
  v1::Report report;
  report.set_status(static_cast<v1::Report::Status>(find.Int(0)));
  report.set_summary(find.String(1));
  *report.mutable_reported_at() = ToProto(find.Time(2));
  if (const auto answered_at = find.OptionalTime(3)) {
    *report.mutable_answered_at() = ToProto(*answered_at);
  }
  return report;
}

absl::StatusOr<ReportStore::All> ReportStore::ListAll() {
  INTERCOM_ASSIGN_OR_RETURN(Statement list, db_.Prepare(kAllSql));
  list.Bind(v1::Report::STATUS_CLEAR);
  All all;
  while (true) {
    INTERCOM_ASSIGN_OR_RETURN(const bool row, list.Step());
    if (!row) return all;
    v1::Report& report = all[{list.String(0), list.String(1)}];
    report.set_status(static_cast<v1::Report::Status>(list.Int(2)));
    *report.mutable_reported_at() = ToProto(list.Time(3));
    if (const auto answered_at = list.OptionalTime(4)) {
      *report.mutable_answered_at() = ToProto(*answered_at);
    }
  }
}

absl::Status ReportStore::SetAnswered(std::string_view root,
                                      std::string_view session_id,
                                      absl::Time at) {
  INTERCOM_ASSIGN_OR_RETURN(Statement set, db_.Prepare(kAnsweredSql));
  set.Bind(at, root, session_id);
  return set.Run();
}

absl::Status ReportStore::Remove(std::string_view root,
                                 std::string_view session_id) {
  INTERCOM_ASSIGN_OR_RETURN(
      Statement remove,
      db_.Prepare("DELETE FROM reports WHERE root = ? AND session_id = ?"));
  remove.Bind(root, session_id);
  return remove.Run();
}

}  // namespace intercom
