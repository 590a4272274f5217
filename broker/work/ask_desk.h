#ifndef PI_INTERCOM_BROKER_WORK_ASK_DESK_H_
#define PI_INTERCOM_BROKER_WORK_ASK_DESK_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/domain/wait_graph.h"
#include "broker/roster/registrar.h"
#include "broker/routing/dispatcher.h"
#include "broker/storage/ask_store.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/answer_finder.h"
#include "broker/work/ask_waits.h"
#include "broker/work/peer_directory.h"
#include "broker/work/workspaces.h"
#include "intercom/v1/ask.pb.h"

namespace intercom {

// Asks: opens them, lets their senders wait, and ends those that nobody
// answers. Asks are rows; who waits is memory, and comes back after a restart
// as the waits are repeated.
//
// AwaitReply, CancelWait, ListAsks and Drain are thread-safe; `done` is called
// once, on the state's thread or on one that only hands answers on. The rest is
// called on the state's thread; what takes Effects, inside a command.
class AskDesk : public AttachmentObserver {
 public:
  static constexpr int kMaxOpen = 8;
  static constexpr absl::Duration kMostWait = absl::Seconds(30);

  // All must outlive this object. Ends of deliveries reach it through
  // `dispatcher`.
  AskDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
          AskStore& asks, DeliveryStore& deliveries, Dispatcher& dispatcher,
          const Clock& clock);

  // At start, before the first command.
  absl::Status Load();

  // What replies answer.
  const AnswerFinder& answers() const { return answers_; }

  // Whether the caller may ask `target` with `envelope`: RECIPIENT_AWAY,
  // ASKS_FULL, ASK_OPEN, ASK_CYCLE. One that `envelope` supersedes does not
  // count.
  absl::Status CheckAsk(const DecidedCall& call, const PeerTarget& target,
                        const v1::Envelope& envelope) const;

  // Inside the command that accepted `record`, perhaps as a repeat: opens it if
  // it is an ask, closes the one that it answers, and cancels one that it
  // supersedes. A reply whose asker waits is one that was accepted as set
  // aside.
  absl::Status OnAccepted(const v1::DeliveryRecord& record,
                          const std::string& scope, Effects& effects);
  // Inside a command: the asker takes it back, whatever comes of its delivery.
  // Does nothing to what is no open ask.
  absl::Status Cancel(const std::string& delivery_id, Effects& effects);
  // The open mail of `from` passed to `to`, and the asks in it.
  void OnMailMoved(const std::string& from, const std::string& to);

  using AwaitDone = AskWaits::Done;
  // As AskService.AwaitReply. Returns what CancelWait takes.
  int64_t AwaitReply(CallerEvidence evidence, v1::AwaitReplyRequest request,
                     AwaitDone done);
  // Whoever waited has gone: `done` is called with CANCELLED if it was not yet.
  void CancelWait(int64_t ticket);
  using ListDone =
      absl::AnyInvocable<void(absl::StatusOr<v1::ListAsksResponse>)>;
  void ListAsks(CallerEvidence evidence, v1::ListAsksRequest request,
                ListDone done);

  // For whose replies the session waits.
  std::vector<std::string> WaitsFor(std::string_view session_id) const;
  // The asks to a session that wait for its answer, as they are told.
  absl::StatusOr<std::vector<v1::Ask>> PendingOf(
      std::string_view session_id) const;
  // The oldest of them for whose answer somebody waits.
  absl::StatusOr<std::optional<v1::Ask>> AwaitedOf(
      std::string_view session_id) const;

  // Told after the commit of each change of an ask, as it is now.
  using OnChanged = std::function<void(const AskRow& ask)>;
  void SetOnChanged(OnChanged on_changed) {
    on_changed_ = std::move(on_changed);
  }
  // Told when who waits for whom may have changed.
  using OnWaits = std::function<void()>;
  void SetOnWaits(OnWaits on_waits) { on_waits_ = std::move(on_waits); }
  // The open ones, the oldest first; those that are awaited, until when they
  // are if nobody waits any more.
  struct OpenAsk {
    AskRow row;
    // Unset for one that is not awaited, infinite while somebody waits.
    std::optional<absl::Duration> awaited_until;
  };
  absl::StatusOr<std::vector<OpenAsk>> AllOpen() const;
  // Those that a session sent and that are open, as they are told.
  absl::StatusOr<std::vector<v1::Ask>> OpenOf(
      std::string_view session_id) const;
  absl::StatusOr<v1::Ask> Describe(const AskRow& ask) const;

  // Told after the commit of an ask to `recipient`.
  using OnOpened = std::function<void(const std::string& recipient)>;
  void SetOnOpened(OnOpened on_opened) { on_opened_ = std::move(on_opened); }
  // By what else a session waits for others.
  using MoreEdges = std::function<std::vector<WaitEdge>(std::string_view)>;
  void SetMoreEdges(MoreEdges more_edges) {
    more_edges_ = std::move(more_edges);
  }
  // A way of waits from one session to another, as FindWaitingWay. What `skip`
  // waits for by other than asks does not count: an ask to it ends that.
  absl::StatusOr<std::vector<WaitEdge>> FindWay(const std::string& start,
                                                const std::string& goal,
                                                std::string_view skip) const;
  // What an attached session is called, for a person.
  std::string NameOf(const std::string& session_id) const;

  // Once a second: ends asks whose time is over or whose recipients stayed
  // away, and releases replies that nobody waits for any more.
  void Tick();
  // From now on nobody waits: each is answered with its ask as it is.
  void Drain();

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  absl::Status Open(const v1::DeliveryRecord& record, const std::string& scope,
                    Effects& effects);
  absl::Status Answer(const v1::DeliveryRecord& reply, Effects& effects);
  absl::Status Settle(const std::string& delivery_id, v1::Ask::State state,
                      Effects& effects);
  // Inside the command that ended a delivery. True if whoever waits is told.
  absl::StatusOr<bool> OnEnded(const std::string& delivery_id,
                               v1::DeliveryEnd end, Effects& effects);
  AskWaits::Opened OpenedAs(const AskRow& ask) const;

  void BeginWait(int64_t ticket, const CallerEvidence& evidence,
                 const v1::AwaitReplyRequest& request, AwaitDone done);
  void EndWait(int64_t ticket);
  // Answers everybody who waits for it.
  void Wake(const std::string& delivery_id);
  // Answers with the ask as it is. A reply is taken by that.
  void Respond(const std::string& delivery_id, std::vector<AwaitDone> dones);
  absl::StatusOr<v1::AwaitReplyResponse> Take(const std::string& delivery_id,
                                              Effects& effects);

  // The asks to this session changed: it is told after the batch.
  void Changed(const std::string& session_id);
  void Tell(const AskRow& ask) const {
    if (on_changed_) on_changed_(ask);
  }
  void TellChanges();
  void TellPending(Attachment& attachment, bool none_too);
  absl::Status Cycle(const std::vector<WaitEdge>& way,
                     const PeerTarget& target) const;

  StateRunner& runner_;
  Workspaces& workspaces_;
  Roster& roster_;
  AskStore& asks_;
  DeliveryStore& deliveries_;
  Dispatcher& dispatcher_;
  const Clock& clock_;
  AskWaits waits_;
  AnswerFinder answers_;
  OnChanged on_changed_;
  OnWaits on_waits_;
  OnOpened on_opened_;
  MoreEdges more_edges_;
  std::atomic<int64_t> last_ticket_ = 0;
  // Whose asks changed since they were told.
  std::set<std::string> changed_;
  bool draining_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_ASK_DESK_H_
