#include "broker/roster/roster.h"

#include <algorithm>
#include <utility>

namespace intercom {
namespace {

// Debian's Abseil has a string_view of its own.
absl::string_view Key(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

Attachment& Roster::Insert(Attachment attachment) {
  auto owned = std::make_unique<Attachment>(std::move(attachment));
  Attachment& added = *owned;
  departures_.erase(added.session_id);
  added.live = live_[added.session_id] =
      std::make_shared<std::atomic<bool>>(true);
  session_by_token_[added.token] = added.session_id;
  order_of_[added.session_id] = next_order_;
  by_order_[next_order_++] = &added;
  by_session_[added.session_id] = std::move(owned);
  return added;
}

bool Roster::Remove(std::string_view session_id, int64_t epoch,
                    bool restarting) {
  const auto found = by_session_.find(Key(session_id));
  if (found == by_session_.end() || found->second->epoch != epoch) {
    return false;
  }
  const std::string id = found->first;
  live_.extract(id).mapped()->store(false);
  session_by_token_.erase(found->second->token);
  by_order_.erase(order_of_[id]);
  order_of_.erase(id);
  by_session_.erase(found);
  if (departures_.size() >= kMaxDepartures) {
    departures_.erase(std::min_element(departures_.begin(), departures_.end(),
                                       [](const auto& a, const auto& b) {
                                         return a.second.steady_at <
                                                b.second.steady_at;
                                       }));
  }
  departures_[id] = {clock_.Now(), clock_.Steady(), restarting};
  return true;
}

Attachment* Roster::Find(std::string_view session_id) {
  const auto found = by_session_.find(Key(session_id));
  return found == by_session_.end() ? nullptr : found->second.get();
}

const Attachment* Roster::Find(std::string_view session_id) const {
  const auto found = by_session_.find(Key(session_id));
  return found == by_session_.end() ? nullptr : found->second.get();
}

const Attachment* Roster::FindByToken(std::string_view token) const {
  const auto found = session_by_token_.find(Key(token));
  return found == session_by_token_.end() ? nullptr : Find(found->second);
}

const Attachment* Roster::FindByHost(const std::vector<int64_t>& pids) const {
  for (const int64_t pid : pids) {
    for (const auto& [order, attachment] : by_order_) {
      if (attachment->host_pid == pid) return attachment;
    }
  }
  return nullptr;
}

const Attachment* Roster::FindByStableId(std::string_view scope,
                                         std::string_view stable_id) const {
  if (stable_id.empty()) return nullptr;
  for (const auto& [order, attachment] : by_order_) {
    if (attachment->stable_id == stable_id &&
        attachment->hello.scope() == scope) {
      return attachment;
    }
  }
  return nullptr;
}

void Roster::EndArrival(const std::string& session_id) {
  const auto found = arriving_.find(session_id);
  if (found != arriving_.end() && --found->second == 0) arriving_.erase(found);
}

bool Roster::IsArriving(std::string_view session_id) const {
  return arriving_.contains(Key(session_id));
}

std::vector<Attachment*> Roster::InWorkspace(std::string_view root) {
  std::vector<Attachment*> found;
  for (const auto& [order, attachment] : by_order_) {
    if (attachment->root == root) found.push_back(attachment);
  }
  return found;
}

std::vector<Attachment*> Roster::All() {
  std::vector<Attachment*> found;
  for (const auto& [order, attachment] : by_order_) found.push_back(attachment);
  return found;
}

std::vector<const Attachment*> Roster::All() const {
  std::vector<const Attachment*> found;
  for (const auto& [order, attachment] : by_order_) found.push_back(attachment);
  return found;
}

Roster::PresenceMark Roster::PresenceOf(std::string_view session_id) const {
  if (const Attachment* attachment = Find(session_id); attachment != nullptr) {
    return {v1::PRESENCE_ATTACHED, attachment->since};
  }
  const auto left = departures_.find(Key(session_id));
  if (left == departures_.end()) return {v1::PRESENCE_AWAY, std::nullopt};
  const bool restarting =
      left->second.restarting &&
      clock_.Steady() - left->second.steady_at < kRestartGrace;
  return {restarting ? v1::PRESENCE_RESTARTING : v1::PRESENCE_AWAY,
          left->second.at};
}

}  // namespace intercom
