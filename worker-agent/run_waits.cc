#include "worker-agent/run_waits.h"

#include <algorithm>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"

namespace intercom {
namespace {

// Whether asking the broker again can't help.
bool IsFinal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return ReasonOf(status) == "WAIT_CYCLE" ||
             ReasonOf(status) == "WAITS_FULL";
  }
}

void Learn(const v1::AwaitRunsResponse& answer, WaitReport& report) {
  for (const v1::SettledRun& run : answer.settled()) {
    const bool is_known =
        std::any_of(report.settled.begin(), report.settled.end(),
                    [&run](const v1::SettledRun& known) {
                      return known.run().run_id() == run.run().run_id();
                    });
    if (!is_known) report.settled.push_back(run);
  }
  report.open.assign(answer.open().begin(), answer.open().end());
  // Later answers are about what the first one named.
  report.left_out = std::max(report.left_out, answer.left_out());
  if (answer.has_ask()) report.ask = answer.ask();
}

}  // namespace

RunWaits::RunWaits(Pace pace, BrokerLink& link, TaskRunner& runner,
                   const Clock& clock, Answer answer, Progress progress,
                   Amend amend)
    : pace_(pace),
      link_(link),
      clock_(clock),
      answer_(std::move(answer)),
      progress_(std::move(progress)),
      amend_(std::move(amend)),
      polls_(pace.polls, link, runner, clock) {}

void RunWaits::Wait(const std::string& call_id,
                    std::vector<std::string> run_ids, absl::Duration time) {
  Waiting& waiting = waiting_[call_id];
  waiting = {
      .run_ids = std::move(run_ids),
      .time = time,
      .report = {},
      .trouble = Error(absl::StatusCode::kUnavailable, "BROKER_UNREACHABLE",
                       "the broker did not answer, so whether runs have "
                       "ended is not known; wait again later")};
  polls_.Begin(
      call_id,
      {.ask =
           [this](SessionCalls& calls, const LongPolls::Question& question) {
             return Ask(calls, question);
           },
       .tell = [this, call_id] { Tell(call_id); },
       .too_late =
           [this, call_id] {
             Waiting& waiting = waiting_[call_id];
             waiting.report.waited = waiting.time;
             waiting.report.trouble = waiting.trouble;
             Finish(call_id);
           }},
      time + pace_.grace);
}

SessionCalls::Stop RunWaits::Ask(SessionCalls& calls,
                                 const LongPolls::Question& question) {
  const Waiting& waiting = waiting_[question.call_id];
  v1::AwaitRunsRequest request;
  for (const std::string& id : waiting.run_ids) request.add_run_ids(id);
  const absl::Duration left = waiting.time - polls_.Waited(question.call_id);
  *request.mutable_wait() =
      ToProtoDuration(std::clamp(left, absl::ZeroDuration(), question.wait));
  return calls.Call<v1::AwaitRunsResponse>(
      std::move(request),
      [this, question](const absl::StatusOr<v1::AwaitRunsResponse>& answer) {
        if (!polls_.Answered(question)) return;
        if (answer.ok()) return HandleAnswer(question, answer);
        HandleTrouble(question, answer.status());
      });
}

void RunWaits::HandleAnswer(
    const LongPolls::Question& question,
    const absl::StatusOr<v1::AwaitRunsResponse>& answer) {
  const std::string& call_id = question.call_id;
  Waiting& waiting = waiting_[call_id];
  WaitReport& report = waiting.report;
  const size_t had = report.settled.size() + report.open.size();
  const size_t had_settled = report.settled.size();
  Learn(*answer, report);
  waiting.trouble = absl::OkStatus();
  report.waited = polls_.Waited(call_id);
  if (report.open.empty() || report.ask.has_value() ||
      report.waited >= waiting.time) {
    return Finish(call_id);
  }
  // What has ended need not be asked for again, and what is opened meanwhile is
  // none of this wait.
  waiting.run_ids.clear();
  for (const v1::Run& run : report.open)
    waiting.run_ids.push_back(run.run_id());
  if (had == 0 || report.settled.size() != had_settled) Tell(call_id);
  polls_.Again(question);
}

void RunWaits::HandleTrouble(const LongPolls::Question& question,
                             const absl::Status& status) {
  Waiting& waiting = waiting_[question.call_id];
  if (!IsFinal(status)) {
    waiting.trouble = status;
    return polls_.Later(question);
  }
  waiting.report.waited = polls_.Waited(question.call_id);
  waiting.report.trouble = status;
  Finish(question.call_id);
}

std::optional<ToolResult> RunWaits::Cancel(const std::string& call_id) {
  const auto found = waiting_.find(call_id);
  if (found == waiting_.end()) return std::nullopt;
  found->second.report.waited = polls_.Waited(call_id);
  polls_.End(call_id);
  ToolResult result = RenderWaitGivenUp(found->second.report);
  waiting_.erase(found);
  return result;
}

void RunWaits::LinkOver(const absl::Status& why) {
  std::vector<std::string> calls;
  for (auto& [call_id, waiting] : waiting_) {
    waiting.report.waited = polls_.Waited(call_id);
    waiting.report.trouble = why;
    calls.push_back(call_id);
  }
  for (const std::string& call_id : calls) Finish(call_id);
}

void RunWaits::Tell(const std::string& call_id) {
  Waiting& waiting = waiting_[call_id];
  waiting.report.waited = polls_.Waited(call_id);
  progress_(call_id,
            WaitProgress(waiting.report, waiting.time, link_.attached()));
}

void RunWaits::Finish(const std::string& call_id) {
  polls_.End(call_id);
  WaitReport report = std::move(waiting_[call_id].report);
  waiting_.erase(call_id);
  for (v1::SettledRun& run : report.settled) run = amend_(run);
  const ToolResult result = RenderWait(report, clock_.Now());
  answer_(call_id, result);
}

}  // namespace intercom
