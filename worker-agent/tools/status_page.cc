#include "worker-agent/tools/status_page.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "broker/domain/report.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/work_labels.h"

namespace intercom {
namespace {

// Keeps its members in the order in which a reader wants them.
using Page = nlohmann::ordered_json;
using Time = google::protobuf::Timestamp;

constexpr int kMaxErrors = 20;
// Enough for a path, the line and the column in it, and what to do.
constexpr size_t kMaxErrorCharacters = 600;

// Whether it has a report that was not taken back.
bool HasOpenReport(const v1::WorkerStatus& worker) {
  return worker.has_report() &&
         worker.report().status() != v1::Report::STATUS_CLEAR;
}

Page TimeOrNull(bool is_set, const Time& time) {
  return is_set ? Page(Rfc3339(time)) : Page();
}

// Null where the clock was set back since.
Page AgeOf(const Time& time, const Time& now) {
  const absl::Duration age = FromProto(now) - FromProto(time);
  if (age < absl::ZeroDuration()) return nullptr;
  return absl::ToInt64Seconds(age);
}

Page PageOf(const v1::Handoff& handoff, const Time& now) {
  return {{"jobId", handoff.job_id()},
          {"summary", StripControls(handoff.summary())},
          {"updatedAt", Rfc3339(handoff.updated_at())},
          {"ageSeconds", AgeOf(handoff.updated_at(), now)}};
}

Page PageOf(const v1::Job& job, const Time& now) {
  Page page = {{"jobId", job.job_id()}, {"state", JobStateLabel(job)}};
  if (!job.reason().empty()) page["reason"] = job.reason();
  if (!job.detail().empty()) page["detail"] = SafeLabel(job.detail(), 512);
  page["fences"] = job.fences();
  page["createdAt"] = Rfc3339(job.created_at());
  page["updatedAt"] = Rfc3339(job.updated_at());
  page["deadlineAt"] = TimeOrNull(job.has_deadline_at(), job.deadline_at());
  page["ageSeconds"] = AgeOf(job.updated_at(), now);
  return page;
}

Page PageOf(const v1::Report& report, const Time& now) {
  return {{"status", ReportStatusName(report.status())},
          {"summary", StripControls(report.summary())},
          {"reportedAt", Rfc3339(report.reported_at())},
          {"ageSeconds", AgeOf(report.reported_at(), now)},
          {"answeredAt",
           TimeOrNull(report.has_answered_at(), report.answered_at())},
          {"overdue", report.overdue()}};
}

// What the settled runs took together.
Page PageOf(const v1::RunTotals& totals) {
  const v1::Usage& usage = totals.usage();
  return {{"settled", totals.runs()},
          {"turns", totals.turns()},
          {"inputTokens", usage.input_tokens()},
          {"outputTokens", usage.output_tokens()},
          {"cacheReadTokens", usage.cache_read_tokens()},
          {"cacheWriteTokens", usage.cache_write_tokens()},
          {"cost", usage.cost()}};
}

Page PageOf(const v1::WorkerStatus& worker, const Time& now) {
  Page page = {{"sessionId", SafeLabel(worker.session_id(), 256)},
               {"name", SafeLabel(worker.name(), 128)},
               {"observedStatus", ObservedLabel(worker.observed_status())}};
  page["lastActivity"] = worker.last_activity().empty()
                             ? Page()
                             : Page(SafeLabel(worker.last_activity(), 64));
  page["lastActivityAt"] =
      TimeOrNull(worker.has_last_activity_at(), worker.last_activity_at());
  page["observedAt"] =
      TimeOrNull(worker.has_observed_at(), worker.observed_at());
  page["observationAgeSeconds"] = worker.has_observation_age_seconds()
                                      ? Page(worker.observation_age_seconds())
                                      : Page();
  // Of what is not known, nothing is fresh either.
  page["stale"] =
      worker.has_observation_age_seconds() ? Page(worker.stale()) : Page();
  page["evidence"] = EvidenceLabel(worker.evidence());
  page["connection"] = {
      {"state", ConnectionLabel(worker.connection().state())},
      {"reason", worker.connection().reason()},
      {"checkedAt", TimeOrNull(worker.connection().has_checked_at(),
                               worker.connection().checked_at())}};
  page["handoff"] =
      worker.has_handoff() ? PageOf(worker.handoff(), now) : Page();
  page["closeJob"] =
      worker.has_close_job() ? PageOf(worker.close_job(), now) : Page();
  page["report"] =
      HasOpenReport(worker) ? PageOf(worker.report(), now) : Page();
  page["waiting"] = worker.waiting();
  page["runs"] = worker.has_run_totals() ? PageOf(worker.run_totals()) : Page();
  return page;
}

// The page with room for its workers.
Page FrameOf(const v1::GetWorkerStatusResponse& response, bool truncated) {
  Page errors = Page::array();
  for (int i = 0; i < std::min(response.errors_size(), kMaxErrors); ++i) {
    errors.push_back(SafeLabel(response.errors(i), kMaxErrorCharacters));
  }
  return {{"at", Rfc3339(response.at())},
          {"totalInSnapshot", response.total_in_snapshot()},
          {"offset", response.offset()},
          {"nextOffset",
           response.has_next_offset() ? Page(response.next_offset()) : Page()},
          {"truncated", truncated},
          {"errors", std::move(errors)},
          {"runs",
           response.has_run_totals() ? PageOf(response.run_totals()) : Page()},
          {"workers", Page::array()}};
}

std::string Line(const Page& page) {
  return page.dump(-1, ' ', false, Page::error_handler_t::replace);
}

// "3 of 12 workers: 2 connected; Ann blocked, overdue".
std::string SummaryOf(const v1::GetWorkerStatusResponse& response) {
  int connected = 0;
  std::string reports;
  for (const v1::WorkerStatus& worker : response.workers()) {
    if (worker.connection().state() == v1::Connection::STATE_CONNECTED) {
      ++connected;
    }
    const v1::Report& report = worker.report();
    if (!HasOpenReport(worker)) continue;
    reports += "; " + NameOr(worker.name(), worker.session_id()) + " " +
               std::string(ReportStatusName(report.status())) +
               (report.overdue() ? ", overdue" : "");
  }
  const int shown = response.workers_size();
  std::string text = std::to_string(shown);
  if (shown != response.total_in_snapshot()) {
    text += " of " + std::to_string(response.total_in_snapshot());
  }
  text += response.total_in_snapshot() == 1 ? " worker: " : " workers: ";
  return SafeLabel(text + std::to_string(connected) + " connected" + reports,
                   200);
}

}  // namespace

int WorkersThatFit(const v1::GetWorkerStatusResponse& response) {
  std::vector<size_t> sizes;
  for (const v1::WorkerStatus& worker : response.workers()) {
    sizes.push_back(Line(PageOf(worker, response.at())).size() + 1);
  }
  // The largest first: whichever workers a smaller page brings, they fit.
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  size_t bytes = Line(FrameOf(response, /*truncated=*/true)).size();
  int count = 0;
  for (const size_t size : sizes) {
    bytes += size;
    if (bytes > kMaxStatusPageBytes && count > 0) break;
    ++count;
  }
  return count;
}

ToolResult RenderStatusPage(const v1::GetWorkerStatusResponse& response,
                            bool truncated) {
  Page page = FrameOf(response, truncated);
  for (const v1::WorkerStatus& worker : response.workers()) {
    page["workers"].push_back(PageOf(worker, response.at()));
  }
  ToolResult result;
  result.text = Line(page);
  result.summary = SummaryOf(response);
  return result;
}

}  // namespace intercom
