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

absl::StatusOr<v1::DeliveryRecord> Dispatcher::Accept(
    const ValidatedEnvelope& envelope, const v1::Sender& sender,
    const Recipient& recipient, Effects& effects) {
  NewDelivery delivery;
  delivery.envelope = envelope.value();
  delivery.sender = sender;
  delivery.recipient_session_id = recipient.session_id;
  delivery.recipient_name = recipient.name;
  delivery.scope = recipient.scope;
  delivery.accepted_at = clock_.Now();
  if (recipient.expires_after.has_value()) {
    delivery.expires_at = delivery.accepted_at + *recipient.expires_after;
  }
  INTERCOM_ASSIGN_OR_RETURN(InsertedDelivery inserted,
                            deliveries_.Insert(std::move(delivery)));
  DescribeWait(inserted.record);
  if (inserted.existed) return std::move(inserted.record);
  if (recipient.set_aside) {
    inserted.record.set_wait_reason(v1::WAIT_REASON_AWAITED);
    *inserted.record.mutable_waiting_since() = ToProto(clock_.Now());
  }

  INTERCOM_ASSIGN_OR_RETURN(const Mailbox mailbox,
                            mailboxes_.Find(recipient.session_id));
  if (mailbox.envelopes > limits_.mailbox_envelopes ||
      mailbox.bytes > limits_.mailbox_bytes) {
    return Error(
        absl::StatusCode::kResourceExhausted, "MAILBOX_FULL",
        "the mailbox of " + NameOr(recipient.name, recipient.session_id) +
            " holds its limit of " + std::to_string(limits_.mailbox_envelopes) +
            " envelopes or " + std::to_string(limits_.mailbox_bytes >> 20) +
            " MiB; nothing was sent. Try again when the recipient "
            "has read some");
  }
  TellAccepted(inserted.record, effects);
  const v1::Envelope& value = envelope.value();
  if (!value.supersedes().empty()) {
    INTERCOM_RETURN_IF_ERROR(Supersede(value, inserted.record, effects));
  }
  if (!value.reply_to().empty()) {
    INTERCOM_ASSIGN_OR_RETURN(const auto original,
                              deliveries_.FindStatus(value.reply_to()));
    // A shell is not its session, and a session answers what it has.
    const bool is_answered =
        original.has_value() &&
        original->recipient_session_id == sender.session_id();
    const std::string evidence = "reply " + inserted.record.delivery_id();
    if (is_answered && sender.origin() == v1::ORIGIN_PERSON) {
      INTERCOM_RETURN_IF_ERROR(MarkOfPerson(value.reply_to(), *original,
                                            v1::DELIVERY_STATE_REPLIED,
                                            evidence, effects));
    } else if (is_answered && sender.origin() == v1::ORIGIN_SESSION) {
      if (original->state >= v1::DELIVERY_STATE_INJECTED) {
        INTERCOM_RETURN_IF_ERROR(Mark(value.reply_to(), original->sequence,
                                      v1::DELIVERY_STATE_REPLIED, evidence,
                                      effects)
                                     .status());
      } else {
        // The word of its host comes later, as after a restart.
        effects.AfterCommit([this, id = value.reply_to(), evidence] {
          KeepEarlyReply(id, evidence);
        });
      }
    }
  }
  effects.AfterCommit([this, id = recipient.session_id,
                       delivery_id = inserted.record.delivery_id(),
                       set_aside = recipient.set_aside] {
    if (set_aside) return SetAside(delivery_id);
    Pump(id);
  });
  return std::move(inserted.record);
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
  // Only the newest can stand for this one: what is said last must be true.
  if (!waiting.empty() && waiting.back().envelope().text() == text) {
    return absl::OkStatus();
  }
  for (const v1::DeliveryRecord& earlier : waiting) {
    if (outbox != nullptr && outbox->IsInFlight(earlier.sequence())) {
      // Its host may not have shown it yet, and need not.
      effects.AfterCommit([this, earlier] {
        BeginWithdraw(earlier.delivery_id(), StatusOf(earlier),
                      v1::DELIVERY_END_SUPERSEDED, "a newer notice",
                      [](const absl::Status&) {});
      });
      continue;
    }
    INTERCOM_RETURN_IF_ERROR(EndAlone(earlier.delivery_id(), StatusOf(earlier),
                                      v1::DELIVERY_END_SUPERSEDED,
                                      "a newer notice", effects)
                                 .status());
  }
  return AddNotice(sender, recipient, topic, text, quiet, effects);
}

absl::Status Dispatcher::AddNotice(const v1::Sender& sender,
                                   const Recipient& recipient,
                                   std::string_view topic,
                                   std::string_view text, bool quiet,
                                   Effects& effects) {
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

absl::StatusOr<int64_t> Dispatcher::MoveMail(const std::string& from,
                                             int64_t left_sequence,
                                             const std::string& to,
                                             std::string_view evidence,
                                             Effects& effects) {
  const auto never_offered = [&](const DeliveryStatus& status) {
    return status.state < v1::DELIVERY_STATE_DELIVERED &&
           (status.sequence > left_sequence || !MayHaveArrived(status));
  };
  INTERCOM_ASSIGN_OR_RETURN(
      const int64_t moved,
      deliveries_.MoveOpen(from, to, never_offered, evidence));
  if (moved > 0) {
    effects.AfterCommit([this, to] {
      // What moved may stand before what it was offered already.
      if (Outbox* outbox = Find(to)) outbox->Rewind();
      Pump(to);
    });
  }
  return moved;
}

void Dispatcher::Pump(const std::string& session_id) {
  Outbox* outbox = Find(session_id);
  if (outbox == nullptr || !outbox->open()) return;
  if (const auto closing = closing_.find(session_id);
      closing != closing_.end()) {
    return OfferAlone(*outbox, closing->second.exempt);
  }
  while (const int limit = outbox->free_slots()) {
    const auto next = deliveries_.NextOpen(session_id, outbox->cursor(), limit);
    if (!next.ok()) {
      spdlog::error("can't read the mailbox of {}: {}", session_id,
                    MessageOf(next.status()));
      return;
    }
    for (const v1::DeliveryRecord& record : *next) {
      if (outbox->IsInFlight(record.sequence()) ||
          set_aside_.contains(record.delivery_id())) {
        outbox->MovePast(record.sequence());
      } else if (WaitsToSupersede(*outbox, record)) {
        HoldBack(*outbox, record);
        outbox->MovePast(record.sequence());
      } else if (!Offer(*outbox, record)) {
        return;
      }
    }
    if (static_cast<int>(next->size()) < limit) return;
  }
}

void Dispatcher::OfferAlone(Outbox& outbox, const std::string& id) {
  if (outbox.IsInFlight(id)) return;
  const auto record = deliveries_.Find(id);
  if (!record.ok()) {
    spdlog::error("can't read delivery {}: {}", id, MessageOf(record.status()));
    return;
  }
  if (record->has_value() && StatusOf(**record).open()) {
    SendTo(outbox, **record);
  }
}

bool Dispatcher::Offer(Outbox& outbox, const v1::DeliveryRecord& record) {
  if (!outbox.HasRoom(static_cast<int64_t>(record.envelope().ByteSizeLong()))) {
    return false;
  }
  SendTo(outbox, record);
  return true;
}

void Dispatcher::SendTo(Outbox& outbox, const v1::DeliveryRecord& record) {
  if (watchers_.offered) watchers_.offered(record);
  v1::AttachResponse frame;
  v1::Delivery& delivery = *frame.mutable_delivery();
  delivery.set_delivery_id(record.delivery_id());
  delivery.set_sequence(record.sequence());
  *delivery.mutable_envelope() = record.envelope();
  *delivery.mutable_sender() = record.sender();
  if (record.marks_size() > 0) {
    *delivery.mutable_accepted_at() = record.marks(0).at();
  }
  if (directory_of_) {
    delivery.set_sender_directory(directory_of_(record.sender().session_id()));
  }
  delivery.set_redelivered(record.state() >= v1::DELIVERY_STATE_DELIVERED ||
                           outbox.repeats().contains(record.sequence()));
  if (run_of_ && record.envelope().kind() == v1::ENVELOPE_KIND_MESSAGE) {
    delivery.set_run_id(run_of_(record.delivery_id(), delivery.redelivered()));
  }
  outbox.Offered(record.sequence(), record.delivery_id(),
                 static_cast<int64_t>(record.envelope().ByteSizeLong()));
  outbox.link().Send(std::move(frame));
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
    // The host can't answer any more: decided anew, without it.
    Withdrawals::Pending pending = *withdrawals_.Take(id);
    Withdraw(id, pending.end, pending.evidence,
             [pending = std::move(pending)](
                 const absl::Status& status) mutable { pending.Tell(status); });
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

}  // namespace intercom
