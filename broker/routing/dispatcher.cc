#include "broker/routing/dispatcher.h"

#include <algorithm>
#include <set>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr size_t kMaxEvidenceBytes = 512;
constexpr int kOfferBatch = 32;
// What a notice takes beside its text, at most.
constexpr int64_t kNoticeBytes = 256;

bool IsOpen(const v1::DeliveryRecord& record) {
  return record.state() < v1::DELIVERY_STATE_INJECTED &&
         record.end() == v1::DELIVERY_END_UNSPECIFIED;
}

absl::Status MayBeThere(const std::string& delivery_id) {
  return Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
               "it is not offered any more, but it was on its way to a session "
               "that has left since and may have it; intercom status " +
                   delivery_id + " tells once that session is back");
}

absl::Status TooLate(const v1::DeliveryRecord& record) {
  return Error(absl::StatusCode::kFailedPrecondition, "TOO_LATE",
               record.end() == v1::DELIVERY_END_UNSPECIFIED
                   ? "it is in the recipient's session already"
                   : "it has ended already");
}

}  // namespace

Dispatcher::Dispatcher(StateRunner& runner, DeliveryStore& deliveries,
                       MailboxStore& mailboxes, Roster& roster,
                       const Clock& clock, Random& random, MailLimits limits)
    : runner_(runner),
      deliveries_(deliveries),
      mailboxes_(mailboxes),
      roster_(roster),
      clock_(clock),
      random_(random),
      limits_(limits) {}

absl::Status Dispatcher::Load() {
  INTERCOM_ASSIGN_OR_RETURN(earlier_sequence_, deliveries_.LastSequence());
  return absl::OkStatus();
}

bool Dispatcher::MayHaveArrived(const v1::DeliveryRecord& record) const {
  if (record.state() >= v1::DELIVERY_STATE_DELIVERED) return true;
  const std::string& recipient = record.recipient_session_id();
  if (record.sequence() <= earlier_sequence_ &&
      !reconciled_.contains(recipient)) {
    return true;
  }
  const auto unsettled = unsettled_.find(recipient);
  return unsettled != unsettled_.end() &&
         unsettled->second.contains(record.sequence());
}

absl::StatusOr<bool> Dispatcher::EndAlone(const v1::DeliveryRecord& record,
                                          v1::DeliveryEnd end,
                                          std::string evidence) {
  const bool is_certain = !MayHaveArrived(record);
  if (!is_certain)
    evidence += "; it was on its way before and may have arrived";
  INTERCOM_RETURN_IF_ERROR(
      deliveries_.End(record.sequence(), end, clock_.Now(), evidence).status());
  return is_certain;
}

absl::StatusOr<v1::DeliveryRecord> Dispatcher::Accept(
    const ValidatedEnvelope& envelope, const v1::Sender& sender,
    const Recipient& recipient, Effects& effects) {
  NewDelivery delivery;
  delivery.envelope = envelope.value();
  delivery.sender = sender;
  delivery.recipient_session_id = recipient.session_id;
  delivery.recipient_name = recipient.name;
  delivery.accepted_at = clock_.Now();
  if (recipient.expires_after.has_value()) {
    delivery.expires_at = delivery.accepted_at + *recipient.expires_after;
  }
  INTERCOM_ASSIGN_OR_RETURN(InsertedDelivery inserted,
                            deliveries_.Insert(std::move(delivery)));
  DescribeWait(inserted.record);
  if (inserted.existed) return std::move(inserted.record);

  INTERCOM_ASSIGN_OR_RETURN(const Mailbox mailbox,
                            mailboxes_.Find(recipient.session_id));
  if (mailbox.envelopes > limits_.mailbox_envelopes ||
      mailbox.bytes > limits_.mailbox_bytes) {
    return Error(
        absl::StatusCode::kResourceExhausted, "MAILBOX_FULL",
        "the mailbox of " +
            SafeLabel(recipient.name.empty() ? recipient.session_id
                                             : recipient.name) +
            " holds its limit of " + std::to_string(limits_.mailbox_envelopes) +
            " envelopes or " + std::to_string(limits_.mailbox_bytes >> 20) +
            " MiB; nothing was sent. Try again when the recipient "
            "has read some");
  }
  const v1::Envelope& value = envelope.value();
  if (!value.supersedes().empty()) {
    INTERCOM_RETURN_IF_ERROR(Supersede(value, inserted.record, effects));
  }
  if (!value.reply_to().empty()) {
    INTERCOM_ASSIGN_OR_RETURN(const auto original,
                              deliveries_.Find(value.reply_to()));
    // A shell is not its session, and a session answers what it has.
    if (original.has_value() && sender.origin() == v1::ORIGIN_SESSION &&
        original->state() >= v1::DELIVERY_STATE_INJECTED &&
        original->recipient_session_id() == sender.session_id()) {
      INTERCOM_RETURN_IF_ERROR(
          deliveries_
              .Mark(original->sequence(), v1::DELIVERY_STATE_REPLIED,
                    clock_.Now(), "reply " + inserted.record.delivery_id())
              .status());
    }
  }
  effects.AfterCommit([this, id = recipient.session_id] { Pump(id); });
  return std::move(inserted.record);
}

absl::Status Dispatcher::Supersede(const v1::Envelope& envelope,
                                   const v1::DeliveryRecord& record,
                                   Effects& effects) {
  const std::string earlier_id =
      DeliveryId(record.sender().session_id(), envelope.supersedes());
  INTERCOM_ASSIGN_OR_RETURN(const auto earlier, deliveries_.Find(earlier_id));
  if (!earlier.has_value() ||
      earlier->recipient_session_id() != record.recipient_session_id()) {
    return Error(absl::StatusCode::kFailedPrecondition, "SUPERSEDES_OTHER",
                 "an envelope supersedes only an earlier one of the same "
                 "sender to the same recipient; nothing was sent");
  }
  if (!IsOpen(*earlier)) return absl::OkStatus();
  const std::string evidence = "superseded by " + record.delivery_id();
  const Outbox* outbox = Find(earlier->recipient_session_id());
  if (outbox != nullptr && outbox->IsInFlight(earlier->sequence())) {
    effects.AfterCommit([this, earlier = *earlier, evidence] {
      BeginWithdraw(earlier, v1::DELIVERY_END_SUPERSEDED, evidence,
                    [this, id = earlier.recipient_session_id()](
                        const absl::Status&) { Pump(id); });
    });
    return absl::OkStatus();
  }
  return EndAlone(*earlier, v1::DELIVERY_END_SUPERSEDED, evidence).status();
}

absl::Status Dispatcher::AcceptNotice(const v1::Sender& sender,
                                      const Recipient& recipient,
                                      std::string_view topic,
                                      std::string_view text, bool quiet,
                                      Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(
      const auto waiting,
      deliveries_.OpenTo(recipient.session_id, v1::ENVELOPE_KIND_NOTICE, topic,
                         sender.session_id()));
  const Outbox* outbox = Find(recipient.session_id);
  for (const v1::DeliveryRecord& earlier : waiting) {
    if (earlier.envelope().text() == text) return absl::OkStatus();
    if (outbox != nullptr && outbox->IsInFlight(earlier.sequence())) continue;
    INTERCOM_RETURN_IF_ERROR(deliveries_
                                 .End(earlier.sequence(),
                                      v1::DELIVERY_END_SUPERSEDED, clock_.Now(),
                                      "a newer notice")
                                 .status());
  }
  return Notify(sender, recipient, topic, text, quiet, effects);
}

absl::Status Dispatcher::Notify(const v1::Sender& sender,
                                const Recipient& recipient,
                                std::string_view topic, std::string_view text,
                                bool quiet, Effects& effects) {
  v1::Envelope notice;
  notice.set_envelope_id(NewUuid(random_));
  notice.set_kind(v1::ENVELOPE_KIND_NOTICE);
  notice.set_topic(std::string(topic));
  notice.set_text(std::string(text));
  notice.set_quiet(quiet);
  INTERCOM_ASSIGN_OR_RETURN(const ValidatedEnvelope envelope,
                            ValidatedEnvelope::FromBroker(std::move(notice)));
  return Accept(envelope, sender, recipient, effects).status();
}

void Dispatcher::Pump(const std::string& session_id) {
  Outbox* outbox = Find(session_id);
  if (outbox == nullptr || !outbox->open()) return;
  while (!outbox->full()) {
    const auto next =
        deliveries_.NextOpen(session_id, outbox->cursor(), kOfferBatch);
    if (!next.ok()) {
      spdlog::error("can't read the mailbox of {}: {}", session_id,
                    MessageOf(next.status()));
      return;
    }
    if (next->empty()) return;
    for (const v1::DeliveryRecord& record : *next) {
      const int64_t bytes =
          static_cast<int64_t>(record.envelope().ByteSizeLong());
      if (outbox->IsInFlight(record.sequence())) {
        outbox->MovePast(record.sequence());
        continue;
      }
      if (!outbox->HasRoom(bytes)) return;
      // It waits for what it supersedes, and later ones wait behind it.
      if (!record.envelope().supersedes().empty() &&
          withdrawals_.Find(DeliveryId(record.sender().session_id(),
                                       record.envelope().supersedes())) !=
              nullptr) {
        return;
      }
      v1::AttachResponse frame;
      v1::Delivery& delivery = *frame.mutable_delivery();
      delivery.set_delivery_id(record.delivery_id());
      delivery.set_sequence(record.sequence());
      *delivery.mutable_envelope() = record.envelope();
      *delivery.mutable_sender() = record.sender();
      if (record.marks_size() > 0) {
        *delivery.mutable_accepted_at() = record.marks(0).at();
      }
      delivery.set_redelivered(record.state() >= v1::DELIVERY_STATE_DELIVERED ||
                               record.host_failures() > 0 ||
                               outbox->repeats().contains(record.sequence()));
      outbox->Offered(record.sequence(), record.delivery_id(), bytes);
      outbox->link().Send(std::move(frame));
    }
    if (next->size() < kOfferBatch) return;
  }
}

void Dispatcher::OnReceipt(SessionKey key, v1::Receipt receipt) {
  if (receipt.evidence().size() > kMaxEvidenceBytes) {
    receipt.mutable_evidence()->resize(kMaxEvidenceBytes);
  }
  *receipt.mutable_evidence() = StripControls(receipt.evidence());
  runner_.PostCommand(
      {[this, key, receipt = std::move(receipt)](Effects& effects) {
         return Record(key, receipt, effects);
       },
       [this, key](const absl::Status& status) {
         spdlog::warn("receipt of {} not recorded: {}", key.session_id,
                      MessageOf(status));
         // A wrong receipt does no harm. Otherwise the state is behind the
         // facts, and so is the window: attaching anew mends both.
         const std::string reason = ReasonOf(status);
         if (reason == "OLD_EPOCH" || reason == "UNKNOWN_ENVELOPE" ||
             reason == "RECEIPT_INVALID") {
           return;
         }
         CloseLink(key, status);
       }});
}

absl::Status Dispatcher::Record(const SessionKey& key,
                                const v1::Receipt& receipt, Effects& effects) {
  const Outbox* outbox = Find(key.session_id);
  if (outbox == nullptr || outbox->epoch() != key.epoch) {
    return Error(absl::StatusCode::kAborted, "OLD_EPOCH",
                 "the attachment that sent it was replaced");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto record,
                            deliveries_.Find(receipt.delivery_id()));
  if (!record.has_value() || record->recipient_session_id() != key.session_id) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                 "no such delivery to this session");
  }
  const int64_t sequence = record->sequence();
  const auto mark = [&](v1::DeliveryState state) -> absl::Status {
    INTERCOM_ASSIGN_OR_RETURN(
        const DeliveryChange change,
        deliveries_.Mark(sequence, state, clock_.Now(), receipt.evidence()));
    if (!change.after.open()) {
      effects.AfterCommit(
          [this, id = key.session_id, sequence] { Settled(id, sequence); });
    }
    return absl::OkStatus();
  };
  switch (receipt.event()) {
    case v1::Receipt::EVENT_DELIVERED:
      return mark(v1::DELIVERY_STATE_DELIVERED);
    case v1::Receipt::EVENT_HELD:
      return deliveries_.SetWait(sequence, receipt.wait_reason(), clock_.Now());
    case v1::Receipt::EVENT_INJECTED:
      return mark(v1::DELIVERY_STATE_INJECTED);
    case v1::Receipt::EVENT_SEEN:
      return mark(v1::DELIVERY_STATE_SEEN);
    case v1::Receipt::EVENT_FAILED:
      return RecordFailure(key, *record, receipt.evidence(), effects);
    case v1::Receipt::EVENT_WITHDRAWN: {
      const Withdrawals::Pending* pending =
          withdrawals_.Find(receipt.delivery_id());
      INTERCOM_ASSIGN_OR_RETURN(
          const bool ended,
          deliveries_.End(
              sequence,
              pending == nullptr ? v1::DELIVERY_END_CANCELLED : pending->end,
              clock_.Now(),
              pending == nullptr ? "withdrawn by the host"
                                 : pending->evidence));
      effects.AfterCommit(
          [this, id = key.session_id, sequence] { Settled(id, sequence); });
      effects.AfterSync(
          [this, delivery_id = receipt.delivery_id(), ended, record = *record] {
            runner_.PostTask([this, delivery_id, ended, record] {
              withdrawals_.Resolve(delivery_id,
                                   ended ? absl::OkStatus() : TooLate(record));
            });
          });
      return absl::OkStatus();
    }
    case v1::Receipt::EVENT_TOO_LATE:
      effects.AfterCommit([this, id = key.session_id,
                           delivery_id = receipt.delivery_id(),
                           record = *record] {
        withdrawals_.Resolve(delivery_id, TooLate(record));
        Pump(id);
      });
      return absl::OkStatus();
    default:
      return Error(absl::StatusCode::kInvalidArgument, "RECEIPT_INVALID",
                   "the receipt has no event");
  }
}

absl::Status Dispatcher::RecordFailure(const SessionKey& key,
                                       const v1::DeliveryRecord& record,
                                       const std::string& evidence,
                                       Effects& effects) {
  if (!IsOpen(record)) return absl::OkStatus();
  const int64_t sequence = record.sequence();
  INTERCOM_ASSIGN_OR_RETURN(const int failures,
                            deliveries_.AddHostFailure(sequence));
  if (failures < limits_.max_host_failures) {
    effects.AfterCommit([this, id = key.session_id, sequence] {
      Outbox* outbox = Find(id);
      if (outbox == nullptr) return;
      outbox->Rewind(sequence);
      Pump(id);
    });
    return absl::OkStatus();
  }
  INTERCOM_RETURN_IF_ERROR(
      deliveries_
          .End(sequence, v1::DELIVERY_END_DEAD_LETTERED, clock_.Now(),
               "the host failed " + std::to_string(failures) +
                   " times: " + evidence)
          .status());
  effects.AfterCommit(
      [this, id = key.session_id, sequence] { Settled(id, sequence); });
  return TellSender(record, "DEAD_LETTERED",
                    "was not delivered: the recipient's host failed three "
                    "times to take it (" +
                        evidence + ")",
                    effects);
}

// The agent attaches again and is reconciled then.
void Dispatcher::CloseLink(const SessionKey& key, const absl::Status& status) {
  Attachment* attachment = roster_.Find(key.session_id);
  if (attachment != nullptr && attachment->epoch == key.epoch) {
    attachment->link->Close(status);
  }
}

void Dispatcher::OnPresent(SessionKey key, v1::Present present) {
  runner_.PostCommand(
      {[this, key, present = std::move(present)](Effects& effects) {
         return RecordPresent(key, present, effects);
       },
       [this, key](const absl::Status& status) {
         spdlog::error("reconciling {} failed: {}", key.session_id,
                       MessageOf(status));
         CloseLink(key, status);
       }});
}

absl::Status Dispatcher::RecordPresent(const SessionKey& key,
                                       const v1::Present& present,
                                       Effects& effects) {
  const Outbox* outbox = Find(key.session_id);
  if (outbox == nullptr || outbox->epoch() != key.epoch || outbox->open()) {
    return absl::OkStatus();
  }
  const std::set<std::string> ids(present.delivery_ids().begin(),
                                  present.delivery_ids().end());
  INTERCOM_ASSIGN_OR_RETURN(const auto named,
                            deliveries_.ToReconcile(key.session_id));
  std::vector<int64_t> repeats;
  for (const v1::DeliveryRecord& record : named) {
    const bool is_present = ids.contains(record.delivery_id());
    if (is_present && record.state() < v1::DELIVERY_STATE_INJECTED) {
      INTERCOM_RETURN_IF_ERROR(
          deliveries_
              .Mark(record.sequence(), v1::DELIVERY_STATE_INJECTED,
                    clock_.Now(), "found in the session at attach")
              .status());
    } else if (!is_present && record.state() >= v1::DELIVERY_STATE_INJECTED) {
      INTERCOM_RETURN_IF_ERROR(
          deliveries_
              .MarkUninjected(record.sequence(), clock_.Now(),
                              "not in the session at attach")
              .status());
      repeats.push_back(record.sequence());
    }
  }
  effects.AfterCommit([this, key, repeats = std::move(repeats)] {
    Outbox* outbox = Find(key.session_id);
    if (outbox == nullptr || outbox->epoch() != key.epoch) return;
    unsettled_.erase(key.session_id);
    reconciled_.insert(key.session_id);
    outbox->repeats().insert(repeats.begin(), repeats.end());
    outbox->Open();
    Pump(key.session_id);
  });
  return absl::OkStatus();
}

void Dispatcher::Withdraw(const std::string& delivery_id, v1::DeliveryEnd end,
                          std::string evidence, Withdrawn done) {
  auto shared_done = std::make_shared<Withdrawn>(std::move(done));
  runner_.PostCommand(
      {[this, delivery_id, end, evidence = std::move(evidence),
        shared_done](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(const auto record,
                                   deliveries_.Find(delivery_id));
         if (!record.has_value()) {
           return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                        "this caller sent no envelope of that id");
         }
         if (!IsOpen(*record)) return TooLate(*record);
         const Outbox* outbox = Find(record->recipient_session_id());
         if (outbox != nullptr && outbox->IsInFlight(record->sequence())) {
           effects.AfterCommit(
               [this, record = *record, end, evidence, shared_done] {
                 BeginWithdraw(record, end, evidence, std::move(*shared_done));
               });
           return absl::OkStatus();
         }
         INTERCOM_ASSIGN_OR_RETURN(const bool is_certain,
                                   EndAlone(*record, end, evidence));
         effects.AfterSync([shared_done, is_certain, delivery_id] {
           (*shared_done)(is_certain ? absl::OkStatus()
                                     : MayBeThere(delivery_id));
         });
         return absl::OkStatus();
       },
       [shared_done](const absl::Status& status) { (*shared_done)(status); }});
}

void Dispatcher::BeginWithdraw(const v1::DeliveryRecord& record,
                               v1::DeliveryEnd end, std::string evidence,
                               Withdrawn done) {
  const std::string& id = record.delivery_id();
  Outbox* outbox = Find(record.recipient_session_id());
  if (outbox == nullptr || !outbox->IsInFlight(record.sequence())) {
    // It left meanwhile: decide anew.
    return Withdraw(id, end, std::move(evidence), std::move(done));
  }
  const int64_t ticket =
      withdrawals_.Begin(id, record.recipient_session_id(), end,
                         std::move(evidence), std::move(done));
  if (ticket == 0) return;
  v1::AttachResponse frame;
  frame.mutable_withdraw()->set_delivery_id(id);
  outbox->link().Send(std::move(frame));
  runner_.PostDelayedTask(
      [this, id, ticket] {
        const Withdrawals::Pending* pending = withdrawals_.Find(id);
        if (pending == nullptr || pending->ticket != ticket) return;
        withdrawals_.Resolve(
            id, Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
                      "the recipient's host did not say whether it could "
                      "still be withdrawn; intercom status " +
                          id + " shows where it is"));
      },
      limits_.withdraw_timeout);
}

void Dispatcher::WithdrawNotices(std::string_view recipient,
                                 std::string_view topic,
                                 std::string_view sender,
                                 std::function<void()> decided) {
  const auto open =
      deliveries_.OpenTo(recipient, v1::ENVELOPE_KIND_NOTICE, topic, sender);
  if (!open.ok()) return;
  for (const v1::DeliveryRecord& record : *open) {
    Withdraw(record.delivery_id(), v1::DELIVERY_END_CANCELLED, "no longer true",
             [decided](const absl::Status&) { decided(); });
  }
}

void Dispatcher::ExpireDue() {
  runner_.PostCommand(
      {[this](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(
             const auto expired, deliveries_.ExpiredBefore(clock_.Now(), 100));
         for (const v1::DeliveryRecord& record : expired) {
           const Outbox* outbox = Find(record.recipient_session_id());
           if (outbox != nullptr && outbox->IsInFlight(record.sequence())) {
             continue;
           }
           INTERCOM_ASSIGN_OR_RETURN(const bool is_certain,
                                     EndAlone(record, v1::DELIVERY_END_EXPIRED,
                                              "waited until its time ran out"));
           INTERCOM_RETURN_IF_ERROR(TellSender(
               record, "EXPIRED",
               is_certain ? "expired before its recipient came back"
                          : "expired; its recipient left while it was on its "
                            "way, and may have it",
               effects));
         }
         return absl::OkStatus();
       },
       [](const absl::Status& status) {
         spdlog::error("expiry failed: {}", MessageOf(status));
       }});
}

absl::Status Dispatcher::TellSender(const v1::DeliveryRecord& record,
                                    std::string_view topic,
                                    std::string_view what, Effects& effects) {
  const v1::Origin origin = record.sender().origin();
  // Notices make no notices, and a person reads `intercom status`.
  if (record.envelope().kind() == v1::ENVELOPE_KIND_NOTICE ||
      (origin != v1::ORIGIN_SESSION && origin != v1::ORIGIN_SHELL)) {
    return absl::OkStatus();
  }
  v1::Sender broker;
  broker.set_session_id("broker");
  broker.set_name("intercom");
  broker.set_origin(v1::ORIGIN_BROKER);
  const std::string to =
      SafeLabel(record.recipient_name().empty() ? record.recipient_session_id()
                                                : record.recipient_name());
  std::string text = "Message " + record.envelope().envelope_id() + " to " +
                     to + " " + std::string(what) + ".";
  INTERCOM_ASSIGN_OR_RETURN(const Mailbox mailbox,
                            mailboxes_.Find(record.sender().session_id()));
  if (mailbox.envelopes >= limits_.mailbox_envelopes ||
      mailbox.bytes + static_cast<int64_t>(text.size()) + kNoticeBytes >
          limits_.mailbox_bytes) {
    // The end stands all the same, and the record says so.
    spdlog::warn("{} is not told of {}: its mailbox is full",
                 record.sender().session_id(), record.delivery_id());
    return absl::OkStatus();
  }
  // Each end is told: none replaces another.
  return Notify(broker,
                {record.sender().session_id(), record.sender().name(), {}},
                topic, text, /*quiet=*/false, effects);
}

void Dispatcher::DescribeWait(v1::DeliveryRecord& record) const {
  if (!IsOpen(record)) {
    record.clear_wait_reason();
    record.clear_waiting_since();
    return;
  }
  const Roster::PresenceMark presence =
      roster_.PresenceOf(record.recipient_session_id());
  absl::Time since =
      record.marks_size() > 0 ? FromProto(record.marks(0).at()) : clock_.Now();
  const auto waits = [&](v1::WaitReason reason) {
    record.set_wait_reason(reason);
    *record.mutable_waiting_since() = ToProto(since);
  };
  if (presence.presence != v1::PRESENCE_ATTACHED) {
    if (presence.since.has_value()) since = std::max(since, *presence.since);
    return waits(presence.presence == v1::PRESENCE_RESTARTING
                     ? v1::WAIT_REASON_STARTING
                     : v1::WAIT_REASON_AWAY);
  }
  const Outbox* outbox = Find(record.recipient_session_id());
  if (outbox == nullptr) return waits(v1::WAIT_REASON_AWAY);
  if (outbox->IsInFlight(record.sequence())) return;  // as the host said
  if (!outbox->open()) return waits(v1::WAIT_REASON_STARTING);
  if (!record.envelope().supersedes().empty() &&
      outbox->IsInFlight(DeliveryId(record.sender().session_id(),
                                    record.envelope().supersedes()))) {
    return waits(v1::WAIT_REASON_SUPERSEDING);
  }
  if (!outbox->HasRoom(
          static_cast<int64_t>(record.envelope().ByteSizeLong()))) {
    return waits(v1::WAIT_REASON_WINDOW);
  }
  record.clear_wait_reason();
  record.clear_waiting_since();
}

void Dispatcher::OnAttached(Attachment& attachment) {
  outboxes_[attachment.session_id] = std::make_unique<Outbox>(
      attachment.link, attachment.epoch, limits_.window);
  const auto named = deliveries_.ToReconcile(attachment.session_id);
  if (!named.ok()) {
    attachment.link->Close(named.status());
    return;
  }
  v1::AttachResponse frame;
  v1::Reconcile& reconcile = *frame.mutable_reconcile();
  for (const v1::DeliveryRecord& record : *named) {
    reconcile.add_delivery_ids(record.delivery_id());
  }
  attachment.link->Send(std::move(frame));
}

void Dispatcher::OnDetached(const Attachment& attachment, bool) {
  const auto found = outboxes_.find(attachment.session_id);
  if (found != outboxes_.end() && found->second->epoch() == attachment.epoch) {
    unsettled_[attachment.session_id].merge(found->second->InFlight());
    outboxes_.erase(found);
  }
  for (const std::string& id : withdrawals_.WaitingFor(attachment.session_id)) {
    withdrawals_.Resolve(
        id, Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
                  "the recipient left before it said whether it could be "
                  "withdrawn"));
  }
}

Outbox* Dispatcher::Find(std::string_view session_id) {
  const auto found =
      outboxes_.find(absl::string_view(session_id.data(), session_id.size()));
  return found == outboxes_.end() ? nullptr : found->second.get();
}

const Outbox* Dispatcher::Find(std::string_view session_id) const {
  const auto found =
      outboxes_.find(absl::string_view(session_id.data(), session_id.size()));
  return found == outboxes_.end() ? nullptr : found->second.get();
}

void Dispatcher::Settled(const std::string& session_id, int64_t sequence) {
  Outbox* outbox = Find(session_id);
  if (outbox == nullptr) return;
  outbox->Settle(sequence);
  outbox->repeats().erase(sequence);
  Pump(session_id);
}

}  // namespace intercom
