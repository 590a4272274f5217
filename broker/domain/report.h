#ifndef PI_INTERCOM_BROKER_DOMAIN_REPORT_H_
#define PI_INTERCOM_BROKER_DOMAIN_REPORT_H_

#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

// Rules of a worker's public report.

inline constexpr size_t kMaxReportCharacters = 2000;

inline constexpr std::array kReportStatuses = {
    v1::Report::STATUS_BLOCKED, v1::Report::STATUS_NEEDS_DECISION,
    v1::Report::STATUS_READY_FOR_REVIEW, v1::Report::STATUS_CLEAR};

// "blocked", "needs_decision", "ready_for_review", "clear"; else "unknown".
std::string_view ReportStatusName(v1::Report::Status status);

// The topic of the envelope that tells of it: "BLOCKED" and so on.
std::string_view ReportTopic(v1::Report::Status status);

// INVALID_ARGUMENT (REPORT_INVALID), saying what to write instead, unless
// `summary` may go with `status`: 1 to 2,000 characters of plain text in one
// line, nothing for CLEAR.
absl::Status CheckReport(v1::Report::Status status, std::string_view summary);

// Whether the worker can't go on without the coordinator or a person.
bool AwaitsAnswer(v1::Report::Status status);

// Whether it awaits an answer and has had none for `after` at `now`.
bool IsOverdue(const v1::Report& report, absl::Time now, absl::Duration after);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_REPORT_H_
