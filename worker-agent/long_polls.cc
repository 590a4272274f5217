#include "worker-agent/long_polls.h"

#include <algorithm>
#include <utility>

namespace intercom {

LongPolls::LongPolls(Pace pace, BrokerLink& link, TaskRunner& runner,
                     const Clock& clock)
    : pace_(pace),
      link_(link),
      clock_(clock),
      gate_(std::make_shared<PostGate>(runner)) {}

LongPolls::~LongPolls() { gate_->Close(); }

void LongPolls::Begin(const std::string& call_id, Poll poll,
                      absl::Duration longest) {
  const int64_t ticket = ++last_ticket_;
  waiting_[call_id] = {.poll = std::move(poll),
                       .ticket = ticket,
                       .began = clock_.Steady(),
                       .next_wait = pace_.first_wait,
                       .question = 0,
                       .stop = nullptr};
  TellNowAndThen(call_id, ticket);
  gate_->PostDelayed(
      [this, call_id, ticket] {
        const Waiting* waiting = Find(call_id, ticket);
        if (waiting == nullptr) return;
        const auto too_late = waiting->poll.too_late;
        End(call_id);
        too_late();
      },
      longest);
  Ask(call_id, ticket);
}

LongPolls::Waiting* LongPolls::Find(const std::string& call_id,
                                    int64_t ticket) {
  const auto found = waiting_.find(call_id);
  return found == waiting_.end() || found->second.ticket != ticket
             ? nullptr
             : &found->second;
}

void LongPolls::Ask(const std::string& call_id, int64_t ticket) {
  Waiting* waiting = Find(call_id, ticket);
  SessionCalls* const calls = link_.calls();
  // Attached() goes on where there is no broker.
  if (waiting == nullptr || waiting->question != 0 || calls == nullptr) return;
  const Question question{.call_id = call_id,
                          .ticket = ticket,
                          .number = ++last_question_,
                          .wait = waiting->next_wait,
                          .asked = clock_.Steady()};
  waiting->next_wait = std::min(2 * question.wait, pace_.longest_wait);
  waiting->question = question.number;
  waiting->stop = waiting->poll.ask(*calls, question);
}

bool LongPolls::Answered(const Question& question) {
  Waiting* waiting = Find(question.call_id, question.ticket);
  if (waiting == nullptr || waiting->question != question.number) return false;
  waiting->question = 0;
  return true;
}

void LongPolls::Again(const Question& question) {
  if (clock_.Steady() - question.asked < question.wait / 2) {
    return Later(question);
  }
  Ask(question.call_id, question.ticket);
}

void LongPolls::Later(const Question& question) {
  gate_->PostDelayed([this, call_id = question.call_id,
                      ticket = question.ticket] { Ask(call_id, ticket); },
                     pace_.pause);
}

void LongPolls::End(const std::string& call_id) {
  const auto found = waiting_.find(call_id);
  if (found == waiting_.end()) return;
  // An answer must not go to a wait that is over.
  if (found->second.question != 0) found->second.stop();
  waiting_.erase(found);
}

absl::Duration LongPolls::Waited(const std::string& call_id) const {
  return clock_.Steady() - waiting_.at(call_id).began;
}

void LongPolls::Attached() {
  for (auto& [call_id, waiting] : waiting_) {
    // What was asked on an earlier connection is void.
    if (waiting.question != 0) waiting.stop();
    waiting.question = 0;
    waiting.next_wait = pace_.first_wait;
    Ask(call_id, waiting.ticket);
  }
}

void LongPolls::TellNowAndThen(const std::string& call_id, int64_t ticket) {
  const Waiting* waiting = Find(call_id, ticket);
  if (waiting == nullptr) return;
  waiting->poll.tell();
  gate_->PostDelayed(
      [this, call_id, ticket] { TellNowAndThen(call_id, ticket); },
      pace_.progress);
}

}  // namespace intercom
