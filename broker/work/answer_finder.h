#ifndef PI_INTERCOM_BROKER_WORK_ANSWER_FINDER_H_
#define PI_INTERCOM_BROKER_WORK_ANSWER_FINDER_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/ask_store.h"
#include "broker/storage/delivery_store.h"
#include "broker/work/ask_waits.h"
#include "broker/work/peer_directory.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/message.pb.h"

namespace intercom {

// What an envelope answers.
struct AnswerTarget {
  // The delivery that it answers.
  std::string delivery_id;
  // An ask that has no reply yet, in time or late.
  bool is_ask = false;
  // Somebody waits for it: the answer is set aside.
  bool is_awaited = false;
  // Its sender, who gets the answer.
  std::string session_id;
  std::string name;
  // False for a person, who has a mailbox, and for a client, who only has what
  // it waits for.
  bool is_session = true;
};

// Finds what a reply answers: never by a guess that could be wrong. Only reads;
// everything is called on the state's thread, inside a command.
class AnswerFinder {
 public:
  // For how long an unanswered ask is listed, and answered without naming it.
  static constexpr absl::Duration kListed = absl::Hours(24);
  static constexpr int kMaxListed = 64;

  // All must outlive this object.
  AnswerFinder(AskStore& asks, DeliveryStore& deliveries,
               const Dispatcher& dispatcher, const AskWaits& waits,
               const Clock& clock)
      : asks_(asks),
        deliveries_(deliveries),
        dispatcher_(dispatcher),
        waits_(waits),
        clock_(clock) {}

  // What the REPLY, or the message with reply_to, of `request` answers. `to` is
  // whom its `to` names, where it names anybody. Errors as MessageService.Send:
  // NOTHING_TO_REPLY_TO, UNKNOWN_REPLY_TARGET, AMBIGUOUS_REPLY.
  absl::StatusOr<AnswerTarget> Find(const DecidedCall& call,
                                    const v1::SendRequest& request,
                                    const std::optional<PeerTarget>& to) const;

  // The open ask of `recipient` to the caller that somebody waits for: what a
  // plain message to it answers. nullopt if there is none, or if the caller
  // can't have read it, unless it is the delivery `trigger`.
  absl::StatusOr<std::optional<AnswerTarget>> Infer(
      const DecidedCall& call, std::string_view recipient,
      std::string_view trigger) const;

  // Asks to `session_id` that wait for its answer.
  absl::StatusOr<std::vector<AskRow>> PendingOf(
      std::string_view session_id) const;

 private:
  // What a search is about.
  struct Search {
    std::string caller;
    // Whose mail is answered; empty: anybody's.
    std::string from;
    std::string from_name;
    // An earlier answer of the caller's that this one replaces: its ask takes
    // the new one.
    std::string replaced_answer;
  };

  absl::StatusOr<AnswerTarget> FindNamed(const Search& search,
                                         const std::string& reply_to) const;
  absl::StatusOr<AnswerTarget> FindUnnamed(const Search& search,
                                           const std::string& trigger) const;
  // Everything that was sent to the caller under an id or a prefix of one.
  absl::StatusOr<std::vector<AnswerTarget>> FindByPrefix(
      const Search& search, const std::string& prefix) const;
  // Of several asks the one that somebody waits for, or the only one.
  std::optional<AskRow> Choose(const std::vector<AskRow>& pending) const;
  // The delivery as what a message answers. nullopt if it was not sent to the
  // caller, or by the broker.
  absl::StatusOr<std::optional<AnswerTarget>> FindSent(
      const Search& search, std::string_view delivery_id) const;
  // The same for what started the present turn, unless it is a notice: nobody
  // waits for a word about that.
  absl::StatusOr<std::optional<AnswerTarget>> FindTriggered(
      const Search& search, std::string_view delivery_id) const;
  absl::StatusOr<AnswerTarget> TargetOf(const Search& search,
                                        const v1::DeliveryRecord& record) const;
  absl::StatusOr<AnswerTarget> TargetOf(const AskRow& ask) const;
  bool TakesAnswer(const Search& search, const AskRow& ask) const;
  absl::Status Ambiguous(const std::vector<AnswerTarget>& targets) const;

  AskStore& asks_;
  DeliveryStore& deliveries_;
  const Dispatcher& dispatcher_;
  const AskWaits& waits_;
  const Clock& clock_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ANSWER_FINDER_H_
