#include "broker/work/run_text.h"

#include <utility>

#include "absl/strings/numbers.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

constexpr std::string_view kPrefix = "run-";
constexpr size_t kMaxDigits = 18;
// Of what is kept of a text, the share of its beginning.
constexpr size_t kHeadPercent = 65;
constexpr size_t kMostErrorBytes = 8000;

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// Bytes of the first `characters`.
size_t HeadBytes(std::string_view text, size_t characters) {
  size_t at = 0;
  for (; at < text.size(); ++at) {
    if (IsContinuation(text[at])) continue;
    if (characters-- == 0) break;
  }
  return at;
}

// Where the last `characters` begin.
size_t TailStart(std::string_view text, size_t characters) {
  size_t at = text.size();
  while (at > 0 && characters > 0) {
    if (!IsContinuation(text[--at])) --characters;
  }
  return at;
}

// Keeps [0, head) and [tail, end).
void CutMiddle(v1::RunResult& result, size_t head, size_t tail) {
  const std::string& text = result.text();
  const auto missing = static_cast<int64_t>(
      CharacterCount(std::string_view(text).substr(head, tail - head)));
  std::string kept = text.substr(0, head) + text.substr(tail);
  result.set_text(std::move(kept));
  result.set_left_out(result.left_out() + missing);
}

}  // namespace

std::string RunId(int64_t number) {
  return std::string(kPrefix) + std::to_string(number);
}

absl::StatusOr<int64_t> ParseRunId(std::string_view run_id) {
  int64_t number = 0;
  const std::string_view digits =
      run_id.starts_with(kPrefix) ? run_id.substr(kPrefix.size()) : "";
  if (!digits.empty() && digits.size() <= kMaxDigits && digits[0] != '0' &&
      digits.find_first_not_of("0123456789") == std::string_view::npos &&
      absl::SimpleAtoi(absl::string_view(digits.data(), digits.size()),
                       &number)) {
    return number;
  }
  return Error(absl::StatusCode::kInvalidArgument, "RUN_ID_INVALID",
               QuotedLine(run_id) +
                   " is no id of a run, which is like run-12; peek lists "
                   "those that there are");
}

bool IsStalled(const RunRow& run, absl::Time now) {
  return run.state == v1::Run::STATE_RUNNING &&
         run.last_advance_at.has_value() &&
         now - *run.last_advance_at >= kStalledAfter;
}

v1::Run ToProto(const RunRow& run, absl::Time now) {
  v1::Run told;
  told.set_run_id(RunId(run.number));
  told.set_delivery_id(run.delivery_id);
  told.set_supervisor_session_id(run.supervisor_session_id);
  told.set_supervisor_name(run.supervisor_name);
  told.set_worker_session_id(run.worker_session_id);
  told.set_worker_name(run.worker_name);
  told.set_label(run.label);
  told.set_state(run.state);
  *told.mutable_opened_at() = ToProto(run.opened_at);
  if (run.started_at.has_value()) {
    *told.mutable_started_at() = ToProto(*run.started_at);
    if (run.last_advance_at.has_value()) {
      *told.mutable_last_advance_at() = ToProto(*run.last_advance_at);
    }
  }
  if (run.settled_at.has_value()) {
    *told.mutable_settled_at() = ToProto(*run.settled_at);
    told.set_reason(run.reason);
  }
  told.set_detail(run.detail);
  told.set_turns(run.turns);
  *told.mutable_usage() = run.usage;
  told.set_model(run.model);
  told.set_stalled(IsStalled(run, now));
  told.set_collected(run.collected);
  told.set_announced(run.announced > 0);
  told.set_stop_requested(run.stop_requested_at.has_value());
  told.set_headless(run.headless);
  return told;
}

v1::RunTotals ToProto(const RunTotals& totals) {
  v1::RunTotals told;
  told.set_runs(totals.runs);
  told.set_turns(totals.turns);
  *told.mutable_usage() = totals.usage;
  return told;
}

v1::RunResult Excerpt(v1::RunResult result, size_t most_characters) {
  if (CharacterCount(result.text()) > most_characters) {
    const size_t head = most_characters * kHeadPercent / 100;
    CutMiddle(result, HeadBytes(result.text(), head),
              TailStart(result.text(), most_characters - head));
  }
  if (CharacterCount(result.error()) > most_characters) {
    result.mutable_error()->resize(HeadBytes(result.error(), most_characters));
  }
  return result;
}

v1::RunResult Bounded(v1::RunResult result, size_t most_bytes) {
  if (result.error().size() > kMostErrorBytes) {
    size_t end = kMostErrorBytes;
    while (end > 0 && IsContinuation(result.error()[end])) --end;
    result.mutable_error()->resize(end);
  }
  if (result.text().size() > most_bytes) {
    size_t head = most_bytes * kHeadPercent / 100;
    size_t tail = result.text().size() - (most_bytes - head);
    while (head > 0 && IsContinuation(result.text()[head])) --head;
    while (tail < result.text().size() && IsContinuation(result.text()[tail])) {
      ++tail;
    }
    CutMiddle(result, head, tail);
  }
  return result;
}

absl::Status UnknownRun(int64_t number) {
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_RUN",
               "this session has no run " + RunId(number) +
                   "; peek lists those that it has");
}

absl::Status RunDropped(int64_t number) {
  return Error(
      absl::StatusCode::kNotFound, "RUN_DROPPED",
      RunId(number) +
          " has settled and gave way to later runs; its result is "
          "not kept any more. If it is needed, hand the work out again");
}

}  // namespace intercom
