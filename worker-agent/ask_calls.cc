#include "worker-agent/ask_calls.h"

#include <algorithm>
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
      clock_(clock),
      answer_(std::move(answer)),
      progress_(std::move(progress)),
      gate_(std::make_shared<PostGate>(runner)) {}

AskCalls::~AskCalls() { gate_->Close(); }

void AskCalls::Wait(const std::string& call_id, SentAsk ask, Amend amend) {
  const absl::Duration longest = ask.reply_within + pace_.grace;
  const int64_t ticket = ++last_ticket_;
  waiting_[call_id] = {.ask = std::move(ask),
                       .amend = std::move(amend),
                       .ticket = ticket,
                       .began = clock_.Steady(),
                       .next_wait = pace_.first_wait,
                       .question = 0,
                       .stop = nullptr,
                       .trouble = NoBroker()};
  TellNowAndThen(call_id, ticket);
  gate_->PostDelayed(
      [this, call_id, ticket] {
        const Waiting* waiting = Find(call_id, ticket);
        if (waiting == nullptr) return;
        if (waiting->stop) waiting->stop();
        Finish(call_id, RenderUnknownAsk(waiting->ask, waiting->trouble));
      },
      longest);
  Question(call_id, ticket);
}

AskCalls::Waiting* AskCalls::Find(const std::string& call_id, int64_t ticket) {
  const auto found = waiting_.find(call_id);
  return found == waiting_.end() || found->second.ticket != ticket
             ? nullptr
             : &found->second;
}

void AskCalls::Question(const std::string& call_id, int64_t ticket) {
  Waiting* waiting = Find(call_id, ticket);
  SessionCalls* const calls = link_.calls();
  // Attached() goes on where there is no broker.
  if (waiting == nullptr || waiting->question != 0 || calls == nullptr) return;
  const absl::Duration wait = waiting->next_wait;
  waiting->next_wait = std::min(2 * wait, pace_.longest_wait);
  const int64_t question = ++last_question_;
  waiting->question = question;
  v1::AwaitReplyRequest request;
  request.set_envelope_id(waiting->ask.message_id);
  *request.mutable_wait() = ToProtoDuration(wait);
  waiting->stop = calls->Call<v1::AwaitReplyResponse>(
      std::move(request),
      [this, call_id, ticket, question, wait, asked = clock_.Steady()](
          const absl::StatusOr<v1::AwaitReplyResponse>& answer) {
        Waiting* waiting = Find(call_id, ticket);
        if (waiting == nullptr || waiting->question != question) return;
        waiting->question = 0;
        HandleAnswer(call_id, *waiting, clock_.Steady() - asked < wait / 2,
                     answer);
      });
}

void AskCalls::QuestionLater(const std::string& call_id, int64_t ticket) {
  gate_->PostDelayed([this, call_id, ticket] { Question(call_id, ticket); },
                     pace_.pause);
}

void AskCalls::HandleAnswer(
    const std::string& call_id, Waiting& waiting, bool came_too_soon,
    const absl::StatusOr<v1::AwaitReplyResponse>& answer) {
  if (!answer.ok()) {
    // Its submit may be on its way still, behind this question.
    const bool may_come = waiting.ask.delivery_id.empty() &&
                          absl::IsNotFound(answer.status()) &&
                          clock_.Steady() - waiting.began < pace_.acceptance;
    if (IsFinal(answer.status()) && !may_come) {
      return Finish(call_id, RenderBrokenAsk(waiting.ask, answer.status()));
    }
    waiting.trouble = answer.status();
    return QuestionLater(call_id, waiting.ticket);
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
    if (changed) Tell(call_id, waiting);
    return came_too_soon ? QuestionLater(call_id, waiting.ticket)
                         : Question(call_id, waiting.ticket);
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
  // A reply must not go to a wait that is over.
  if (found->second.stop) found->second.stop();
  ToolResult result = RenderStoppedWaiting(found->second.ask);
  waiting_.erase(found);
  return result;
}

void AskCalls::Attached() {
  for (auto& [call_id, waiting] : waiting_) {
    // What was asked on an earlier connection is void.
    if (waiting.question != 0) waiting.stop();
    waiting.question = 0;
    waiting.next_wait = pace_.first_wait;
    Question(call_id, waiting.ticket);
  }
}

void AskCalls::LinkOver(const absl::Status& why) {
  std::vector<std::pair<std::string, ToolResult>> ended;
  for (const auto& [call_id, waiting] : waiting_) {
    ended.emplace_back(call_id, RenderBrokenAsk(waiting.ask, why));
  }
  for (const auto& [call_id, result] : ended) Finish(call_id, result);
}

void AskCalls::Tell(const std::string& call_id, const Waiting& waiting) {
  progress_(call_id, AskProgress(waiting.ask, clock_.Steady() - waiting.began,
                                 link_.attached()));
}

void AskCalls::TellNowAndThen(const std::string& call_id, int64_t ticket) {
  const Waiting* waiting = Find(call_id, ticket);
  if (waiting == nullptr) return;
  Tell(call_id, *waiting);
  gate_->PostDelayed(
      [this, call_id, ticket] { TellNowAndThen(call_id, ticket); },
      pace_.progress);
}

void AskCalls::Finish(const std::string& call_id, const ToolResult& result) {
  waiting_.erase(call_id);
  answer_(call_id, result);
}

}  // namespace intercom
