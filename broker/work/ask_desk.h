#ifndef PI_INTERCOM_BROKER_WORK_ASK_DESK_H_
#define PI_INTERCOM_BROKER_WORK_ASK_DESK_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/peer_directory.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/ask.pb.h"
#include "intercom/v1/message.pb.h"

namespace intercom {

// What an envelope answers.
struct AnswerTarget {
  // The delivery that it answers.
  std::string delivery_id;
  bool is_ask = false;
  // Its sender, who gets the answer.
  std::string session_id;
  std::string name;
};

// Asks: opens them, finds what a reply answers, lets their senders wait, and
// ends those that nobody answers. Asks are rows; who waits is memory, and comes
// back after a restart as the waits are repeated.
//
// AwaitReply and ListAsks are thread-safe and call `done` once, on the state's
// thread or on one that only hands answers on. The rest is called on the
// state's thread; what takes Effects, inside a command.
class AskDesk : public AttachmentObserver {
 public:
  static constexpr int kMaxOpen = 8;
  // For how long an ask stays an edge when nobody waits any more.
  static constexpr absl::Duration kEdgeGrace = absl::Seconds(10);
  // For how long a recipient may be away before its ask ends.
  static constexpr absl::Duration kRecipientGrace = absl::Seconds(15);
  // For how long an unanswered ask is listed.
  static constexpr absl::Duration kListed = absl::Hours(24);

  // All must outlive this object.
  AskDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
          DeliveryStore& deliveries, Dispatcher& dispatcher, const Clock& clock)
      : runner_(runner),
        workspaces_(workspaces),
        roster_(roster),
        deliveries_(deliveries),
        dispatcher_(dispatcher),
        clock_(clock) {}

  // At start, before the first command, and after a failed commit.
  absl::Status Load();

  // What the REPLY, or the message with reply_to, of `request` answers. `to` is
  // whom its `to` names, where it names anybody. Errors as MessageService.Send:
  // NOTHING_TO_REPLY_TO, UNKNOWN_REPLY_TARGET, AMBIGUOUS_REPLY.
  absl::StatusOr<AnswerTarget> FindAnswered(
      const DecidedCall& call, const v1::SendRequest& request,
      const std::optional<PeerTarget>& to) const;

  // The one open ask of `recipient` to the caller that somebody waits for:
  // what a plain message to it answers. nullopt if there is none or more.
  absl::StatusOr<std::optional<AnswerTarget>> InferAnswered(
      const DecidedCall& call, std::string_view recipient) const;

  // Whether the caller may ask `target`: RECIPIENT_AWAY, ASKS_FULL, ASK_OPEN,
  // ASK_CYCLE.
  absl::Status CheckAsk(const DecidedCall& call,
                        const PeerTarget& target) const;

  // Inside the command that accepted `record`: opens it if it is an ask, and
  // closes the one that it answers. A reply whose asker waits is set aside for
  // it.
  absl::Status OnAccepted(const v1::DeliveryRecord& record,
                          const std::string& scope, Effects& effects);
  // Inside the command that ended the delivery of an ask otherwise: cancelled,
  // superseded, expired, refused, dead-lettered.
  absl::Status OnEnded(const v1::DeliveryRecord& record, Effects& effects);

  using AwaitDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::AwaitReplyResponse>)>;
  void AwaitReply(CallerEvidence evidence, v1::AwaitReplyRequest request,
                  AwaitDone done);
  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListAsksResponse>)>;
  void ListAsks(CallerEvidence evidence, v1::ListAsksRequest request,
                ListDone done);

  // Ends asks whose time is over or whose recipients stayed away, and what
  // nobody waits for any more.
  void Tick();

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  DeliveryStore& deliveries_;
  Dispatcher& dispatcher_;
  const Clock& clock_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ASK_DESK_H_
