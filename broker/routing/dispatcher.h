#ifndef PI_INTERCOM_BROKER_ROUTING_DISPATCHER_H_
#define PI_INTERCOM_BROKER_ROUTING_DISPATCHER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
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

namespace intercom {

struct MailLimits {
  int64_t mailbox_envelopes = 10'000;
  int64_t mailbox_bytes = 64 << 20;
  WindowLimits window;
  int max_host_failures = 3;
  // How long a host may think about a withdrawal.
  absl::Duration withdraw_timeout = absl::Seconds(5);
};

// To whom an envelope goes.
struct Recipient {
  std::string session_id;
  std::string name;
  // Unset for configured sessions, whose mail never expires.
  std::optional<absl::Duration> expires_after;
};

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
  // notice of the same topic and sender that is not on its way yet is
  // superseded by it; an identical one stands.
  absl::Status AcceptNotice(const v1::Sender& sender,
                            const Recipient& recipient, std::string_view topic,
                            std::string_view text, bool quiet,
                            Effects& effects);

  // What an agent says of a delivery to its session. Thread-safe.
  void OnReceipt(SessionKey key, v1::Receipt receipt);
  // What a session has of what Reconcile named. Thread-safe.
  void OnPresent(SessionKey key, v1::Present present);

  using Withdrawn = absl::AnyInvocable<void(const absl::Status&)>;
  // Ends an open delivery as `end`, after asking the host if it was offered.
  // `done` is called after the change is durable. Errors as
  // MessageService.WithdrawMessage.
  void Withdraw(const std::string& delivery_id, v1::DeliveryEnd end,
                std::string evidence, Withdrawn done);
  // The same for open notices of a topic about `sender`, without an answer.
  void WithdrawNotices(std::string_view recipient, std::string_view topic,
                       std::string_view sender);

  // Ends what expired while it waited, and tells the senders.
  void ExpireDue();

  // Says in `record` why it waits and since when, if it does.
  void DescribeWait(v1::DeliveryRecord& record) const;

  void OnAttached(Attachment& attachment) override;
  void OnDetached(const Attachment& attachment, bool restarting) override;

 private:
  Outbox* Find(std::string_view session_id);
  const Outbox* Find(std::string_view session_id) const;
  // Offers what fits into the window.
  void Pump(const std::string& session_id);
  absl::Status Supersede(const v1::Envelope& envelope,
                         const v1::DeliveryRecord& record, Effects& effects);
  void BeginWithdraw(const v1::DeliveryRecord& record, v1::DeliveryEnd end,
                     std::string evidence, Withdrawn done);
  absl::Status Record(const SessionKey& key, const v1::Receipt& receipt,
                      Effects& effects);
  absl::Status RecordFailure(const SessionKey& key,
                             const v1::DeliveryRecord& record,
                             const std::string& evidence, Effects& effects);
  absl::Status RecordPresent(const SessionKey& key, const v1::Present& present,
                             Effects& effects);
  // Gives a settled delivery's room back and offers the next.
  void Settled(const std::string& session_id, int64_t sequence);
  // Accepts a notice as it is.
  absl::Status Notify(const v1::Sender& sender, const Recipient& recipient,
                      std::string_view topic, std::string_view text, bool quiet,
                      Effects& effects);
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
  Withdrawals withdrawals_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_ROUTING_DISPATCHER_H_
