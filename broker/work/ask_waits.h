#ifndef PI_INTERCOM_BROKER_WORK_ASK_WAITS_H_
#define PI_INTERCOM_BROKER_WORK_ASK_WAITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "intercom/v1/ask.pb.h"

namespace intercom {

// Who waits for the reply to which ask, and until when an ask goes on without:
// what is known of asks in memory alone. An ask is known from the moment at
// which it opens until it is closed, and, if its reply is set aside for those
// who wait, until nobody does any more.
//
// A value of the state's thread. Reads steady time only.
class AskWaits {
 public:
  static constexpr size_t kMaxOfAsker = 64;
  // For how long an ask counts as awaited when nobody waits any more.
  static constexpr absl::Duration kGrace = absl::Seconds(10);
  // For how long a recipient may be away before its ask ends.
  static constexpr absl::Duration kRecipientGrace = absl::Seconds(15);

  using Done = absl::AnyInvocable<void(absl::StatusOr<v1::AwaitReplyResponse>)>;

  // `clock` must outlive this object.
  explicit AskWaits(const Clock& clock) : clock_(clock) {}

  struct Opened {
    std::string delivery_id;
    std::string asker;
    std::string recipient;
    // Until its deadline.
    absl::Duration time_left;
    bool recipient_is_there = false;
  };
  // Does nothing to one that is known.
  void Open(const Opened& ask);
  // Its recipient is another session from now on.
  void SetRecipient(std::string_view id, const std::string& recipient);

  // Whether somebody waits for its reply, or did a moment ago. True for an ask
  // that is not known: it opens in this very moment.
  bool IsAwaited(std::string_view id) const;
  // The same, and of a person's always: the answer finds them in their mailbox.
  bool IsWanted(std::string_view id) const;
  bool HasWaiters(std::string_view id) const;
  // Until when an ask that is known is wanted, in steady time: without end
  // while somebody waits. nullopt if it is not.
  std::optional<absl::Duration> WantedUntil(std::string_view id) const;

  // Adds who waits for an ask that is known. False if its asker has too many.
  bool Await(std::string_view id, int64_t ticket, Done done);
  // Somebody asked for it without waiting.
  void Touch(std::string_view id);
  // Takes one who waits. nullopt if it waits no more.
  struct Waiter {
    std::string id;
    Done done;
  };
  std::optional<Waiter> Take(int64_t ticket);
  // Takes all who wait for an ask.
  std::vector<Done> TakeAll(std::string_view id);
  // Takes everybody.
  std::vector<Waiter> TakeEverybody();

  // It is answered: `reply` is set aside until nobody waits.
  void SetAside(std::string_view id, const std::string& reply);
  // Forgets an ask for which nobody waits.
  void Forget(std::string_view id);
  // The same, unless its reply is set aside.
  void ForgetOpen(std::string_view id);

  void OnRecipient(std::string_view session_id, bool is_there);

  // What time has brought about. Asks that ended are named again until they
  // are forgotten; the rest is named once.
  struct Due {
    std::vector<std::pair<std::string, v1::Ask::State>> ended;
    // Recipients of asks that are awaited no more.
    std::vector<std::string> lapsed_recipients;
    // Replies that nobody waits for any more; their asks are forgotten.
    std::vector<std::string> released;
  };
  Due TakeDue();

 private:
  struct Known {
    std::string asker;
    std::string recipient;
    absl::Duration deadline;
    // When it ceases to be awaited, unless somebody waits.
    absl::Duration lapses_at;
    bool lapse_is_told = false;
    std::optional<absl::Duration> recipient_away_since;
    std::map<int64_t, Done> waiters;
    // Set aside. Empty while it is open.
    std::string reply;
  };
  Known* Find(std::string_view id);
  const Known* Find(std::string_view id) const;
  bool IsAwaited(const Known& known) const {
    return !known.waiters.empty() || clock_.Steady() < known.lapses_at;
  }
  // Somebody waits, or has just ceased to.
  void Renew(Known& known);
  void Left(Known& known);

  const Clock& clock_;
  absl::flat_hash_map<std::string, Known> by_id_;
  absl::flat_hash_map<int64_t, std::string> id_of_;
  // How many wait for asks of each asker.
  absl::flat_hash_map<std::string, size_t> of_asker_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ASK_WAITS_H_
