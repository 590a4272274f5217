#ifndef PI_INTERCOM_BROKER_ROUTING_WITHDRAWALS_H_
#define PI_INTERCOM_BROKER_ROUTING_WITHDRAWALS_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// Withdrawals that a host was asked for, by delivery. One that it has not
// answered in time is overdue: those who asked are told that nothing is known,
// and the wish stands until the word comes or the recipient leaves. A value of
// the state's thread.
class Withdrawals {
 public:
  using Waiter = absl::AnyInvocable<void(const absl::Status&)>;

  struct Pending {
    std::string recipient;
    v1::DeliveryEnd end = v1::DELIVERY_END_CANCELLED;
    std::string evidence;
    std::vector<Waiter> waiters;
    // Tells this withdrawal from a later one of the same delivery; 0: overdue.
    int64_t ticket = 0;

    void Tell(const absl::Status& outcome) {
      for (Waiter& waiter : waiters) waiter(outcome);
    }
  };

  // Adds a waiter. Returns the ticket of a new withdrawal, or 0 when one is
  // awaited.
  int64_t Begin(const std::string& delivery_id, const std::string& recipient,
                v1::DeliveryEnd end, std::string evidence, Waiter waiter) {
    Pending& pending = by_id_[delivery_id];
    pending.waiters.push_back(std::move(waiter));
    if (pending.ticket != 0) return 0;
    pending.recipient = recipient;
    pending.end = end;
    pending.evidence = std::move(evidence);
    pending.ticket = ++last_ticket_;
    return pending.ticket;
  }

  // Whether it is under way and not overdue.
  bool IsAwaited(std::string_view delivery_id) const {
    const Pending* pending = Find(delivery_id);
    return pending != nullptr && pending->ticket != 0;
  }
  // Adds a waiter to one that is there, overdue or not.
  void Await(const std::string& delivery_id, Waiter waiter) {
    by_id_.at(delivery_id).waiters.push_back(std::move(waiter));
  }
  // Tells the waiters of an awaited one that nothing is known.
  void SetOverdue(const std::string& delivery_id, const absl::Status& unknown) {
    Pending& pending = by_id_.at(delivery_id);
    pending.ticket = 0;
    std::vector<Waiter> waiters = std::exchange(pending.waiters, {});
    for (Waiter& waiter : waiters) waiter(unknown);
  }

  // nullptr if there is none.
  const Pending* Find(std::string_view delivery_id) const {
    const auto found =
        by_id_.find(absl::string_view(delivery_id.data(), delivery_id.size()));
    return found == by_id_.end() ? nullptr : &found->second;
  }

  // Ends one and tells its waiters.
  void Resolve(std::string_view delivery_id, const absl::Status& outcome) {
    auto pending = Take(delivery_id);
    if (pending.has_value()) pending->Tell(outcome);
  }

  // Forgets one; the caller tells its waiters.
  std::optional<Pending> Take(std::string_view delivery_id) {
    const auto found =
        by_id_.find(absl::string_view(delivery_id.data(), delivery_id.size()));
    if (found == by_id_.end()) return std::nullopt;
    Pending pending = std::move(found->second);
    by_id_.erase(found);
    return pending;
  }

  // Delivery ids of those that `recipient` was asked for.
  std::vector<std::string> WaitingFor(std::string_view recipient) const {
    std::vector<std::string> ids;
    for (const auto& [id, pending] : by_id_) {
      if (pending.recipient == recipient) ids.push_back(id);
    }
    return ids;
  }

 private:
  absl::flat_hash_map<std::string, Pending> by_id_;
  int64_t last_ticket_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROUTING_WITHDRAWALS_H_
