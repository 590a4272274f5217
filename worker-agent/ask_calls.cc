#include "worker-agent/ask_calls.h"

#include <utility>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"

namespace intercom {
namespace {

// Whether asking the broker again can't help. A session token of before a
// reconnection is unknown only until the next Welcome.
bool IsFinal(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnimplemented:
      return true;
    default:
      return false;
  }
}

absl::Status NoBroker() {
  return Error(absl::StatusCode::kUnavailable, "BROKER_UNREACHABLE",
               "the broker did not answer");
}

}  // namespace

AskCalls::AskCalls(Pace pace, BrokerLink& link, TaskRunner& runner,
                   const Clock& clock, Answer answer, Progress progress)
    : pace_(pace),
      link_(link),
      answer_(std::move(answer)),
      progress_(std::move(progress)),
      polls_(pace.polls, link, runner, clock) {}

void AskCalls::Wait(const std::string& call_id, SentAsk ask, Amend amend) {
  const absl::Duration longest = ask.reply_within + pace_.grace;
  waiting_[call_id] = {
      .ask = std::move(ask), .amend = std::move(amend), .trouble = NoBroker()};
  polls_.Begin(
      call_id,
      {.ask =
           [this](SessionCalls& calls, const LongPolls::Question& question) {
             return Ask(calls, question);
           },
       .tell = [this, call_id] { Tell(call_id); },
       .too_late =
           [this, call_id] {
             const Waiting& waiting = waiting_[call_id];
             Finish(call_id, RenderUnknownAsk(waiting.ask, waiting.trouble));
           }},
      longest);
}

SessionCalls::Stop AskCalls::Ask(SessionCalls& calls,
                                 const LongPolls::Question& question) {
  v1::AwaitReplyRequest request;
  request.set_envelope_id(waiting_[question.call_id].ask.message_id);
  *request.mutable_wait() = ToProtoDuration(question.wait);
  return calls.Call<v1::AwaitReplyResponse>(
      std::move(request),
      [this, question](const absl::StatusOr<v1::AwaitReplyResponse>& answer) {
        if (polls_.Answered(question)) HandleAnswer(question, answer);
      });
}

void AskCalls::HandleAnswer(
    const LongPolls::Question& question,
    const absl::StatusOr<v1::AwaitReplyResponse>& answer) {
  const std::string& call_id = question.call_id;
  Waiting& waiting = waiting_[call_id];
  if (!answer.ok()) {
    // Its submit may be on its way still, behind this question.
    const bool may_come = waiting.ask.delivery_id.empty() &&
                          absl::IsNotFound(answer.status()) &&
                          polls_.Waited(call_id) < pace_.acceptance;
    if (IsFinal(answer.status()) && !may_come) {
      return Finish(call_id, RenderBrokenAsk(waiting.ask, answer.status()));
    }
    waiting.trouble = answer.status();
    return polls_.Later(question);
  }
  const v1::Ask& ask = answer->ask();
  SentAsk& known = waiting.ask;
  const bool changed = known.state != ask.delivery_state() ||
                       known.wait_reason != ask.wait_reason();
  known.delivery_id = ask.delivery_id();
  known.state = ask.delivery_state();
  known.wait_reason = ask.wait_reason();
  if (!ask.recipient_name().empty()) known.recipient = ask.recipient_name();
  if (ask.state() == v1::Ask::STATE_OPEN) {
    if (changed) Tell(call_id);
    return polls_.Again(question);
  }
  if (ask.state() != v1::Ask::STATE_ANSWERED || !answer->has_reply()) {
    return Finish(call_id, RenderUnanswered(known, ask.state()));
  }
  ToolResult result = RenderReply(known, answer->reply());
  if (waiting.amend) waiting.amend(answer->reply().envelope(), result);
  Finish(call_id, result);
}

std::optional<ToolResult> AskCalls::Cancel(const std::string& call_id) {
  const auto found = waiting_.find(call_id);
  if (found == waiting_.end()) return std::nullopt;
  polls_.End(call_id);
  ToolResult result = RenderStoppedWaiting(found->second.ask);
  waiting_.erase(found);
  return result;
}

void AskCalls::LinkOver(const absl::Status& why) {
  std::vector<std::pair<std::string, ToolResult>> ended;
  for (const auto& [call_id, waiting] : waiting_) {
    ended.emplace_back(call_id, RenderBrokenAsk(waiting.ask, why));
  }
  for (const auto& [call_id, result] : ended) Finish(call_id, result);
}

void AskCalls::Tell(const std::string& call_id) {
  progress_(call_id, AskProgress(waiting_[call_id].ask, polls_.Waited(call_id),
                                 link_.attached()));
}

void AskCalls::Finish(const std::string& call_id, const ToolResult& result) {
  polls_.End(call_id);
  waiting_.erase(call_id);
  answer_(call_id, result);
}

}  // namespace intercom
