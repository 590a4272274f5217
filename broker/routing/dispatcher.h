#ifndef PI_INTERCOM_BROKER_ROUTING_DISPATCHER_H_
#define PI_INTERCOM_BROKER_ROUTING_DISPATCHER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/domain/validated_envelope.h"
#include "broker/roster/registrar.h"
#include "broker/roster/roster.h"
#include "broker/routing/outbox.h"
#include "broker/routing/withdrawals.h"
#include "broker/storage/delivery_store.h"
#include "broker/storage/mailbox_store.h"
#include "broker/storage/state_runner.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

struct MailLimits {
  int64_t mailbox_envelopes = 10'000;
  int64_t mailbox_bytes = 64 << 20;
  WindowLimits window;
  // How long a host may think about a withdrawal.
  absl::Duration withdraw_timeout = absl::Seconds(5);
};

// To whom an envelope goes.
struct Recipient {
  std::string session_id;
  std::string name;
  // Unset for configured sessions, whose mail never expires.
  std::optional<absl::Duration> expires_after;
  // The scope in which it was found.
  std::string scope = {};
  // Somebody waits for this very envelope: it is set aside from the start.
  bool set_aside = false;
};

// A change of one delivery, as it is told after its commit.
struct DeliveryNews {
  std::string delivery_id;
  // Before it was accepted: in no state.
  DeliveryStatus before;
  DeliveryStatus after;
  absl::Time at;
  // Set where it was accepted by this.
  std::shared_ptr<const v1::DeliverySummary> accepted;
};

// For how long mail to a session without an entry is kept.
inline constexpr absl::Duration kUnconfiguredKept = absl::Hours(24);

// Accepts envelopes and keeps every mailbox moving: an accepted envelope is
// offered to its recipient's attachment, in order and within its window, until
// a receipt proves that the session has it or it ends.
//
// Not thread-safe: everything is called on the state's thread, but for the
// methods that say otherwise.
class Dispatcher : public AttachmentObserver {
 public:
  // All must outlive this object.
  Dispatcher(StateRunner& runner, DeliveryStore& deliveries,
             MailboxStore& mailboxes, Roster& roster, const Clock& clock,
             Random& random, MailLimits limits);

  // At start, before the first command: what is stored already may have been
  // offered by an earlier broker.
  absl::Status Load();

  // Where a session's host is, or was last; empty where that is not known. What
  // recipients are shown of their senders. Before the first attachment.
  using DirectoryOf = std::function<std::string(std::string_view session_id)>;
  void SetDirectoryOf(DirectoryOf directory_of) {
    directory_of_ = std::move(directory_of);
  }

  // Who watches deliveries, on the state's thread: `changed` after the commit
  // of each change, in their order, `offered` before one goes out. Both must be
  // quick. Before the first command.
  struct Watchers {
    std::function<void(const DeliveryNews&)> changed;
    std::function<void(const v1::DeliveryRecord&)> offered;
  };
  void SetWatchers(Watchers watchers) { watchers_ = std::move(watchers); }

  // Inside a command: stores the envelope for `recipient` and, after COMMIT,
  // offers it. The record says how far it is and why it waits. A repeat gives
  // the stored record. ALREADY_EXISTS (ENVELOPE_ID_REUSED),
  // RESOURCE_EXHAUSTED (MAILBOX_FULL), FAILED_PRECONDITION
  // (SUPERSEDES_OTHER: not one's own envelope to the same recipient).
  absl::StatusOr<v1::DeliveryRecord> Accept(const ValidatedEnvelope& envelope,
                                            const v1::Sender& sender,
                                            const Recipient& recipient,
                                            Effects& effects);

  // Inside a command: accepts a notice of the broker about `sender`. A waiting
  // notice of the same topic and sender is superseded by it, by its host's word
  // where it is on its way; an identical newest one stands.
  absl::Status AcceptNotice(const v1::Sender& sender,
                            const Recipient& recipient, std::string_view topic,
                            std::string_view text, bool quiet,
                            Effects& effects);

  // The same for a notice that stands beside those that wait.
  absl::Status AddNotice(const v1::Sender& sender, const Recipient& recipient,
                         std::string_view topic, std::string_view text,
                         bool quiet, Effects& effects);

  // Inside a command: mail to sessions that lost their entry expires from now
  // on like that to sessions without one, unless the entry comes back before.
  absl::Status OnEntries(const std::vector<std::string>& gone,
                         const std::vector<std::string>& added);

  // Keeps an open delivery for a call that waits for it: it waits in its
  // mailbox, takes no room in the window and is not offered, until it is
  // released. What its recipient's agent or host says of it counts as ever.
  // Only memory: after a restart it is mail like any other.
  void SetAside(const std::string& delivery_id);
  // From now on it is offered in its turn, if it is open still. Does nothing to
  // one that is not set aside.
  void Release(const std::string& delivery_id);

  // Inside a command: the call that waited for a delivery has it. `is_told_of`:
  // its session's agent, or its person's command, says what becomes of it;
  // otherwise it has arrived. nullopt if it is not stored any more.
  absl::StatusOr<std::optional<v1::DeliveryRecord>> RecordTaken(
      const std::string& delivery_id, bool is_told_of, Effects& effects);

  // Inside a command: the person `recipient` was shown a delivery to them. The
  // record is as it is then. NOT_FOUND (UNKNOWN_ENVELOPE).
  absl::StatusOr<v1::DeliveryRecord> RecordRead(const std::string& delivery_id,
                                                std::string_view recipient,
                                                std::string_view evidence,
                                                Effects& effects);

  // Called inside each command that ends a delivery otherwise than by arriving.
  // `is_certain` false: its recipient, which has left, may have it. If it
  // opened a run that is open still, this is called again once its host has
  // said that it has not. True: its sender is told by other ways than a notice.
  using OnEnded = absl::AnyInvocable<absl::StatusOr<bool>(
      const std::string& delivery_id, v1::DeliveryEnd end, bool is_certain,
      Effects& effects)>;
  // Before the first command.
  void AddOnEnded(OnEnded on_ended) {
    on_ended_.push_back(std::move(on_ended));
  }

  // Called inside each command that learns that a delivery is in its
  // recipient's session, or, `is_there` false, that it is not after all and
  // will be offered again.
  using OnArrived = absl::AnyInvocable<absl::Status(
      const std::string& delivery_id, bool is_there, Effects& effects)>;
  // Before the first command.
  void SetOnArrived(OnArrived on_arrived) {
    on_arrived_ = std::move(on_arrived);
  }

  // Which run a delivery opened, for its recipient; empty for none, and, unless
  // it is offered again, for one that has settled. Before the first attachment.
  using RunOf =
      std::function<std::string(const std::string& delivery_id, bool repeated)>;
  void SetRunOf(RunOf run_of) { run_of_ = std::move(run_of); }

  // Inside a command: gives the mail of `from`, which is away, to the session
  // `to`: what waits and was certainly never offered, where deliveries after
  // `left_sequence` are known not to have been. What is of `to` itself stays.
  // Returns how many moved.
  absl::StatusOr<int64_t> MoveMail(const std::string& from,
                                   int64_t left_sequence, const std::string& to,
                                   std::string_view evidence, Effects& effects);

  // What an agent says of a delivery to its session. Thread-safe.
  void OnReceipt(SessionKey key, v1::Receipt receipt);
  // What a session has of what Reconcile named. Thread-safe.
  void OnPresent(SessionKey key, v1::Present present);

  // Inside a command: nobody wants an open delivery any more. It ends, by its
  // host's word where it is on its way.
  absl::Status TakeBack(const std::string& delivery_id, v1::DeliveryEnd end,
                        std::string evidence, Effects& effects);

  using Withdrawn = absl::AnyInvocable<void(const absl::Status&)>;
  // Ends an open delivery as `end`, after asking the host if it is on its way
  // there. One that was on its way to a session that has left since ends too,
  // and is OUTCOME_UNKNOWN: the session may have it, and says so when it is
  // back. `done` is called after the change is durable, on any thread. Errors
  // as MessageService.WithdrawMessage.
  void Withdraw(const std::string& delivery_id, v1::DeliveryEnd end,
                std::string evidence, Withdrawn done);
  // Whether a delivery has ended otherwise than by arriving, as far as that is
  // known.
  bool HasEnded(const std::string& delivery_id) const;
  // As Withdraw, for open notices of a topic about `sender`. `decided` is
  // called for each when its fate is known, on the state's thread.
  void WithdrawNotices(std::string_view recipient, std::string_view topic,
                       std::string_view sender, std::function<void()> decided);

  // Ends what expired while it waited, and tells the senders.
  void ExpireDue();

  // Ends everything that waits for `recipient`, in small steps, and tells the
  // senders why: "was refused: <why>". What is with its host already is the
  // host's. `done` is called when that is durable, on any thread, with the
  // number of those that ended.
  using Refused = absl::AnyInvocable<void(absl::StatusOr<int64_t>)>;
  void RefuseMail(const std::string& recipient, std::string why, Refused done);

  // Says in `record` why it waits and since when, if it does.
  void DescribeWait(v1::DeliveryRecord& record) const;

  // From now on the session is offered nothing but the delivery `exempt`, for
  // which the window always has room: what fills it may be held until the
  // close is over. Its other mail waits, across attachments, until EndClosing.
  void BeginClosing(const std::string& session_id, std::string exempt);
  void EndClosing(const std::string& session_id);

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  Outbox* Find(std::string_view session_id);
  const Outbox* Find(std::string_view session_id) const;
  struct Closing {
    // The one delivery that it is offered.
    std::string exempt;
    absl::Time since;
  };

  // Offers what fits into the window.
  void Pump(const std::string& session_id);
  // Offers the delivery `id` if it is open and not on its way.
  void OfferAlone(Outbox& outbox, const std::string& id);
  // False if its window has no room for it.
  bool Offer(Outbox& outbox, const v1::DeliveryRecord& record);
  void SendTo(Outbox& outbox, const v1::DeliveryRecord& record);
  // Keeps it, and what its sender sent after it, until that is decided.
  void HoldBack(Outbox& outbox, const v1::DeliveryRecord& record);
  // Whether a delivery waits until an earlier one of its sender is withdrawn.
  bool WaitsToSupersede(const Outbox& outbox,
                        const v1::DeliveryRecord& record) const;
  absl::Status Supersede(const v1::Envelope& envelope,
                         const v1::DeliveryRecord& record, Effects& effects);
  // The ways in which deliveries change: as DeliveryStore's, and told.
  absl::StatusOr<DeliveryChange> Mark(const std::string& delivery_id,
                                      int64_t sequence, v1::DeliveryState state,
                                      std::string_view evidence,
                                      Effects& effects);
  absl::Status MarkUninjected(const v1::DeliveryRecord& record,
                              std::string_view evidence, Effects& effects);
  absl::Status SetWait(const std::string& delivery_id,
                       const DeliveryStatus& status, v1::WaitReason reason,
                       Effects& effects);
  absl::StatusOr<bool> End(const std::string& delivery_id,
                           const DeliveryStatus& status, v1::DeliveryEnd end,
                           std::string_view evidence, Effects& effects);
  void TellAccepted(const v1::DeliveryRecord& record, Effects& effects) const;
  void TellChange(const std::string& delivery_id, const DeliveryStatus& before,
                  const DeliveryStatus& after, absl::Time at,
                  Effects& effects) const;
  void BeginWithdraw(const std::string& delivery_id,
                     const DeliveryStatus& status, v1::DeliveryEnd end,
                     std::string evidence, Withdrawn done);
  absl::Status Record(const SessionKey& key, const v1::Receipt& receipt,
                      Effects& effects);
  // Inside the command that learns that it is in the session: it was replied
  // to, if a reply was quicker than that word.
  absl::Status MarkEarlyReply(int64_t sequence, const std::string& delivery_id,
                              Effects& effects);
  // Marks it at once if that word came with the reply.
  void KeepEarlyReply(const std::string& delivery_id,
                      const std::string& evidence);
  void CloseLink(const SessionKey& key, const absl::Status& status);
  absl::Status RecordFailure(const SessionKey& key,
                             const DeliveryStatus& status,
                             const v1::Receipt& receipt, Effects& effects);
  absl::Status RecordPresent(const SessionKey& key, const v1::Present& present,
                             Effects& effects);
  // What a person did with mail of theirs: takes it out of their mailbox.
  absl::Status MarkOfPerson(const std::string& delivery_id,
                            const DeliveryStatus& status,
                            v1::DeliveryState state, std::string_view evidence,
                            Effects& effects);
  // Whether an open delivery that is not on its way now was before, so that
  // its recipient may have it.
  bool MayHaveArrived(const DeliveryStatus& status) const;
  struct Ending {
    // False if it may have arrived all the same; the evidence then says so.
    bool is_certain = true;
    // Whether its sender hears of it without a notice.
    bool is_told = false;
  };
  // Ends an open delivery that is not on its way.
  absl::StatusOr<Ending> EndAlone(const std::string& delivery_id,
                                  const DeliveryStatus& status,
                                  v1::DeliveryEnd end, std::string evidence,
                                  Effects& effects);
  absl::StatusOr<bool> Ended(const std::string& delivery_id,
                             v1::DeliveryEnd end, bool is_certain,
                             Effects& effects);
  absl::Status Arrived(const std::string& delivery_id, bool is_there,
                       Effects& effects);
  // Ends what expired, page by page.
  void ExpireAfter(ExpiryCursor cursor);
  absl::Status Expire(const v1::DeliveryRecord& record, Effects& effects);
  struct Refusal;
  void RefuseAfter(int64_t sequence, std::shared_ptr<Refusal> refusal);
  static absl::Status TooLate(const DeliveryStatus& status);
  // Gives a settled delivery's room back and offers the next.
  void Settled(const std::string& session_id, const std::string& delivery_id,
               int64_t sequence);
  absl::Status TellSender(const v1::DeliveryRecord& record,
                          std::string_view topic, std::string_view what,
                          Effects& effects);

  StateRunner& runner_;
  DeliveryStore& deliveries_;
  MailboxStore& mailboxes_;
  Roster& roster_;
  const Clock& clock_;
  Random& random_;
  const MailLimits limits_;
  absl::flat_hash_map<std::string, std::unique_ptr<Outbox>> outboxes_;
  DirectoryOf directory_of_;
  Withdrawals withdrawals_;
  Watchers watchers_;
  std::vector<OnEnded> on_ended_;
  OnArrived on_arrived_;
  RunOf run_of_;
  // Deliveries that are set aside.
  absl::flat_hash_set<std::string> set_aside_;
  // The evidence of replies to what is not known to be in its session yet, by
  // what they answer. Only memory: a lost one leaves a state out.
  static constexpr size_t kMaxEarlyReplies = 1024;
  absl::flat_hash_map<std::string, std::string> early_replies_;
  // Sessions that are being closed.
  absl::flat_hash_map<std::string, Closing> closing_;
  // The greatest sequence of earlier brokers, and who was reconciled since.
  int64_t earlier_sequence_ = 0;
  absl::flat_hash_set<std::string> reconciled_;
  // Sequences that were on their way to sessions that left, by session, until
  // they are reconciled.
  absl::flat_hash_map<std::string, std::set<int64_t>> unsettled_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROUTING_DISPATCHER_H_
