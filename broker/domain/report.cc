#include "broker/domain/report.h"

#include <optional>
#include <string>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

absl::Status Invalid(const std::string& message) {
  return Error(absl::StatusCode::kInvalidArgument, "REPORT_INVALID",
               message + "; nothing was reported");
}

}  // namespace

std::string_view ReportStatusName(v1::Report::Status status) {
  switch (status) {
    case v1::Report::STATUS_BLOCKED:
      return "blocked";
    case v1::Report::STATUS_NEEDS_DECISION:
      return "needs_decision";
    case v1::Report::STATUS_READY_FOR_REVIEW:
      return "ready_for_review";
    case v1::Report::STATUS_CLEAR:
      return "clear";
    default:
      return "unknown";
  }
}

std::string_view ReportTopic(v1::Report::Status status) {
  switch (status) {
    case v1::Report::STATUS_BLOCKED:
      return "BLOCKED";
    case v1::Report::STATUS_NEEDS_DECISION:
      return "NEEDS_DECISION";
    case v1::Report::STATUS_READY_FOR_REVIEW:
      return "READY_FOR_REVIEW";
    case v1::Report::STATUS_CLEAR:
      return "CLEAR";
    default:
      return "";
  }
}

absl::Status CheckReport(v1::Report::Status status, std::string_view summary) {
  if (ReportTopic(status).empty()) {
    return Invalid(
        "the status is none of blocked, needs_decision, ready_for_review and "
        "clear");
  }
  if (status == v1::Report::STATUS_CLEAR) {
    if (summary.empty()) return absl::OkStatus();
    return Invalid(
        "clear takes a report back and has no summary; leave it out, or choose "
        "another status");
  }
  const std::optional<size_t> characters = CountCharacters(summary);
  if (!characters.has_value()) return Invalid("the summary is not UTF-8");
  if (IsBlank(summary)) {
    return Invalid("the summary is empty; say in a sentence what it is about");
  }
  if (*characters > kMaxReportCharacters) {
    return Invalid("the summary has " + std::to_string(*characters) +
                   " characters, the limit is 2,000; put the rest into a file "
                   "and name its path");
  }
  if (HasControlCharacter(summary) || StripControls(summary) != summary) {
    return Invalid(
        "the summary has control or bidirectional characters; write plain "
        "text without line breaks and tabs");
  }
  return absl::OkStatus();
}

bool AwaitsAnswer(v1::Report::Status status) {
  return status == v1::Report::STATUS_BLOCKED ||
         status == v1::Report::STATUS_NEEDS_DECISION;
}

bool IsOverdue(const v1::Report& report, absl::Time now, absl::Duration after) {
  return AwaitsAnswer(report.status()) && !report.has_answered_at() &&
         now - FromProto(report.reported_at()) >= after;
}

}  // namespace intercom
