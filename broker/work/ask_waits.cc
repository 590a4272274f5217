#include "broker/work/ask_waits.h"

#include "broker/domain/identity.h"

namespace intercom {

void AskWaits::Open(const Opened& ask) {
  const auto [found, added] = by_id_.try_emplace(ask.delivery_id);
  if (!added) return;
  Known& known = found->second;
  const absl::Duration now = clock_.Steady();
  known.asker = ask.asker;
  known.recipient = ask.recipient;
  known.deadline = now + ask.time_left;
  known.lapses_at = now + kGrace;
  if (!ask.recipient_is_there) known.recipient_away_since = now;
}

void AskWaits::SetRecipient(std::string_view id, const std::string& recipient) {
  if (Known* known = Find(id)) known->recipient = recipient;
}

bool AskWaits::IsAwaited(std::string_view id) const {
  const Known* known = Find(id);
  return known == nullptr || IsAwaited(*known);
}

bool AskWaits::IsWanted(std::string_view id) const {
  const Known* known = Find(id);
  return known == nullptr || IsPersonSessionId(known->asker) ||
         IsAwaited(*known);
}

bool AskWaits::HasWaiters(std::string_view id) const {
  const Known* known = Find(id);
  return known != nullptr && !known->waiters.empty();
}

std::optional<absl::Duration> AskWaits::WantedUntil(std::string_view id) const {
  const Known* known = Find(id);
  if (known == nullptr) return std::nullopt;
  if (!known->waiters.empty() || IsPersonSessionId(known->asker)) {
    return absl::InfiniteDuration();
  }
  if (!IsAwaited(*known)) return std::nullopt;
  return known->lapses_at;
}

bool AskWaits::Await(std::string_view id, int64_t ticket, Done done) {
  Known* known = Find(id);
  if (known == nullptr) return false;
  size_t& count = of_asker_[known->asker];
  if (count >= kMaxOfAsker) return false;
  ++count;
  known->waiters.emplace(ticket, std::move(done));
  id_of_.emplace(ticket, std::string(id));
  Renew(*known);
  return true;
}

void AskWaits::Touch(std::string_view id) {
  if (Known* known = Find(id)) Renew(*known);
}

void AskWaits::Renew(Known& known) {
  known.lapses_at = clock_.Steady() + kGrace;
  known.lapse_is_told = false;
}

void AskWaits::Left(Known& known) {
  known.lapses_at = clock_.Steady() + kGrace;
  const auto count = of_asker_.find(known.asker);
  if (--count->second == 0) of_asker_.erase(count);
}

std::optional<AskWaits::Waiter> AskWaits::Take(int64_t ticket) {
  const auto node = id_of_.extract(ticket);
  if (!node) return std::nullopt;
  Known& known = by_id_.at(node.mapped());
  auto waiter = known.waiters.extract(ticket);
  Left(known);
  return Waiter{node.mapped(), std::move(waiter.mapped())};
}

std::vector<AskWaits::Done> AskWaits::TakeAll(std::string_view id) {
  std::vector<Done> taken;
  Known* known = Find(id);
  if (known == nullptr) return taken;
  for (auto& [ticket, done] : std::exchange(known->waiters, {})) {
    id_of_.erase(ticket);
    Left(*known);
    taken.push_back(std::move(done));
  }
  return taken;
}

std::vector<AskWaits::Waiter> AskWaits::TakeEverybody() {
  std::vector<Waiter> taken;
  for (auto& [id, known] : by_id_) {
    for (Done& done : TakeAll(id)) taken.push_back({id, std::move(done)});
  }
  return taken;
}

void AskWaits::SetAside(std::string_view id, const std::string& reply) {
  if (Known* known = Find(id)) known->reply = reply;
}

void AskWaits::Forget(std::string_view id) {
  by_id_.erase(absl::string_view(id.data(), id.size()));
}

void AskWaits::ForgetOpen(std::string_view id) {
  const Known* known = Find(id);
  if (known != nullptr && known->reply.empty()) Forget(id);
}

void AskWaits::OnRecipient(std::string_view session_id, bool is_there) {
  for (auto& [id, known] : by_id_) {
    if (known.recipient != session_id) continue;
    if (is_there) {
      known.recipient_away_since.reset();
    } else {
      known.recipient_away_since = clock_.Steady();
    }
  }
}

AskWaits::Due AskWaits::TakeDue() {
  Due due;
  const absl::Duration now = clock_.Steady();
  std::vector<std::string> forgotten;
  for (auto& [id, known] : by_id_) {
    const bool is_awaited = IsAwaited(known);
    if (!known.reply.empty()) {
      if (is_awaited) continue;
      due.released.push_back(known.reply);
      forgotten.push_back(id);
    } else if (now >= known.deadline) {
      due.ended.emplace_back(id, v1::Ask::STATE_TIMED_OUT);
    } else if (known.recipient_away_since.has_value() &&
               now >= *known.recipient_away_since + kRecipientGrace) {
      due.ended.emplace_back(id, v1::Ask::STATE_RECIPIENT_GONE);
    } else if (!is_awaited && !known.lapse_is_told) {
      known.lapse_is_told = true;
      due.lapsed_recipients.push_back(known.recipient);
    }
  }
  for (const std::string& id : forgotten) by_id_.erase(id);
  return due;
}

AskWaits::Known* AskWaits::Find(std::string_view id) {
  const auto found = by_id_.find(absl::string_view(id.data(), id.size()));
  return found == by_id_.end() ? nullptr : &found->second;
}

const AskWaits::Known* AskWaits::Find(std::string_view id) const {
  const auto found = by_id_.find(absl::string_view(id.data(), id.size()));
  return found == by_id_.end() ? nullptr : &found->second;
}

}  // namespace intercom
