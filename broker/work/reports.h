#ifndef PI_INTERCOM_BROKER_WORK_REPORTS_H_
#define PI_INTERCOM_BROKER_WORK_REPORTS_H_

#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/report.h"
#include "broker/storage/report_store.h"

namespace intercom {

// The latest reports of workers, as they are shown. Reads only; called on the
// state's thread.
class Reports {
 public:
  // Without a word from the coordinator or a person for so long, a report that
  // awaits an answer is overdue.
  static constexpr absl::Duration kOverdueAfter = absl::Minutes(10);

  // Both must outlive this object. Infinite `overdue_after`: none ever is.
  Reports(ReportStore& store, const Clock& clock, absl::Duration overdue_after)
      : store_(store), clock_(clock), overdue_after_(overdue_after) {}

  // One that was cleared too.
  absl::StatusOr<std::optional<v1::Report>> Find(
      std::string_view root, std::string_view session_id) const {
    INTERCOM_ASSIGN_OR_RETURN(std::optional<v1::Report> report,
                              store_.Find(root, session_id));
    if (report.has_value()) {
      report->set_overdue(IsOverdue(*report, clock_.Now(), overdue_after_));
    }
    return report;
  }

  // Every one that was not cleared, without summaries.
  absl::StatusOr<ReportStore::All> ListAll() const {
    INTERCOM_ASSIGN_OR_RETURN(ReportStore::All all, store_.ListAll());
    for (auto& [of, report] : all) {
      report.set_overdue(IsOverdue(report, clock_.Now(), overdue_after_));
    }
    return all;
  }

  // When a report will be overdue, unless it is answered before; the infinite
  // future for one that never will, or is.
  absl::Time OverdueAt(const v1::Report& report) const {
    if (report.overdue() || !AwaitsAnswer(report.status()) ||
        report.has_answered_at()) {
      return absl::InfiniteFuture();
    }
    return FromProto(report.reported_at()) + overdue_after_;
  }

 private:
  ReportStore& store_;
  const Clock& clock_;
  const absl::Duration overdue_after_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_REPORTS_H_
