// How deliveries end without arriving: withdrawn, superseded, expired.
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/routing/dispatcher.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr int kExpiryPage = 100;
constexpr size_t kRefusalPage = 100;
// What a notice takes beside its text, at most.
constexpr int64_t kNoticeBytes = 256;

absl::Status MayBeThere(const std::string& delivery_id) {
  return Error(absl::StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN",
               "it is not offered any more, but it was on its way to a session "
               "that has left since and may have it; intercom status " +
                   delivery_id + " tells once that session is back");
}

}  // namespace

absl::Status Dispatcher::TooLate(const DeliveryStatus& status) {
  return Error(absl::StatusCode::kFailedPrecondition, "TOO_LATE",
               status.end == v1::DELIVERY_END_UNSPECIFIED
                   ? "it is in the recipient's session already"
                   : "it has ended already");
}

bool Dispatcher::MayHaveArrived(const DeliveryStatus& status) const {
  if (status.state >= v1::DELIVERY_STATE_DELIVERED) return true;
  const std::string& recipient = status.recipient_session_id;
  // To a person nothing is on its way: it is read, or waits.
  if (IsPersonSessionId(recipient)) return false;
  if (status.sequence <= earlier_sequence_ &&
      !reconciled_.contains(recipient)) {
    return true;
  }
  const auto unsettled = unsettled_.find(recipient);
  return unsettled != unsettled_.end() &&
         unsettled->second.contains(status.sequence);
}

absl::StatusOr<Dispatcher::Ending> Dispatcher::EndAlone(
    const std::string& delivery_id, const DeliveryStatus& status,
    v1::DeliveryEnd end, std::string evidence, Effects& effects) {
  Ending ending;
  ending.is_certain = !MayHaveArrived(status);
  if (!ending.is_certain) {
    evidence += "; it was on its way before and may have arrived";
  }
  INTERCOM_RETURN_IF_ERROR(
      End(delivery_id, status, end, evidence, effects).status());
  INTERCOM_ASSIGN_OR_RETURN(
      ending.is_told, Ended(delivery_id, end, ending.is_certain, effects));
  return ending;
}

absl::StatusOr<bool> Dispatcher::Ended(const std::string& delivery_id,
                                       v1::DeliveryEnd end, bool is_certain,
                                       Effects& effects) {
  bool is_told = false;
  for (OnEnded& on_ended : on_ended_) {
    INTERCOM_ASSIGN_OR_RETURN(const bool told,
                              on_ended(delivery_id, end, is_certain, effects));
    is_told = is_told || told;
  }
  return is_told;
}

absl::Status Dispatcher::Supersede(const v1::Envelope& envelope,
                                   const v1::DeliveryRecord& record,
                                   Effects& effects) {
  const std::string earlier_id =
      DeliveryId(record.sender().session_id(), envelope.supersedes());
  INTERCOM_ASSIGN_OR_RETURN(const auto earlier,
                            deliveries_.FindStatus(earlier_id));
  if (!earlier.has_value() ||
      earlier->recipient_session_id != record.recipient_session_id()) {
    return Error(absl::StatusCode::kFailedPrecondition, "SUPERSEDES_OTHER",
                 "an envelope supersedes only an earlier one of the same "
                 "sender to the same recipient; nothing was sent");
  }
  // Pump, which follows, holds the newer one back until that is decided.
  return TakeBack(earlier_id, v1::DELIVERY_END_SUPERSEDED,
                  "superseded by " + record.delivery_id(), effects);
}

absl::Status Dispatcher::TakeBack(const std::string& delivery_id,
                                  v1::DeliveryEnd end, std::string evidence,
                                  Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto status,
                            deliveries_.FindStatus(delivery_id));
  if (!status.has_value() || !status->open()) return absl::OkStatus();
  const Outbox* outbox = Find(status->recipient_session_id);
  if (outbox != nullptr && outbox->IsInFlight(status->sequence)) {
    effects.AfterCommit([this, delivery_id, status = *status, end, evidence] {
      BeginWithdraw(delivery_id, status, end, evidence,
                    [](const absl::Status&) {});
    });
    return absl::OkStatus();
  }
  return EndAlone(delivery_id, *status, end, std::move(evidence), effects)
      .status();
}

void Dispatcher::Withdraw(const std::string& delivery_id, v1::DeliveryEnd end,
                          std::string evidence, Withdrawn done) {
  auto shared_done = std::make_shared<Withdrawn>(std::move(done));
  runner_.PostCommand(
      {[this, delivery_id, end, evidence = std::move(evidence),
        shared_done](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(const auto status,
                                   deliveries_.FindStatus(delivery_id));
         if (!status.has_value()) {
           return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                        "this caller sent no envelope of that id");
         }
         if (!status->open()) return TooLate(*status);
         const Outbox* outbox = Find(status->recipient_session_id);
         if (outbox != nullptr && outbox->IsInFlight(status->sequence)) {
           effects.AfterCommit([this, delivery_id, status = *status, end,
                                evidence, shared_done] {
             BeginWithdraw(delivery_id, status, end, evidence,
                           std::move(*shared_done));
           });
           return absl::OkStatus();
         }
         INTERCOM_ASSIGN_OR_RETURN(
             const Ending ending,
             EndAlone(delivery_id, *status, end, evidence, effects));
         effects.AfterSync([shared_done, ending, delivery_id] {
           (*shared_done)(ending.is_certain ? absl::OkStatus()
                                            : MayBeThere(delivery_id));
         });
         return absl::OkStatus();
       },
       [shared_done](const absl::Status& status) { (*shared_done)(status); }});
}

bool Dispatcher::HasEnded(const std::string& delivery_id) const {
  const auto status = deliveries_.FindStatus(delivery_id);
  return status.ok() && status->has_value() &&
         (*status)->end != v1::DELIVERY_END_UNSPECIFIED;
}

void Dispatcher::BeginWithdraw(const std::string& id,
                               const DeliveryStatus& status,
                               v1::DeliveryEnd end, std::string evidence,
                               Withdrawn done) {
  Outbox* outbox = Find(status.recipient_session_id);
  if (outbox == nullptr || !outbox->IsInFlight(status.sequence)) {
    // It left meanwhile: decide anew.
    return Withdraw(id, end, std::move(evidence), std::move(done));
  }
  const int64_t ticket =
      withdrawals_.Begin(id, status.recipient_session_id, end,
                         std::move(evidence), std::move(done));
  if (ticket == 0) return;
  v1::AttachResponse frame;
  frame.mutable_withdraw()->set_delivery_id(id);
  outbox->link().Send(std::move(frame));
  runner_.PostDelayedTask(
      [this, id, ticket] {
        const Withdrawals::Pending* pending = withdrawals_.Find(id);
        if (pending == nullptr || pending->ticket != ticket) return;
        withdrawals_.SetOverdue(
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
             [this, id = record.delivery_id(), decided](const absl::Status&) {
               runner_.PostTask([this, id, decided] {
                 // Overdue: its fate is known only when the host answers or
                 // leaves.
                 if (withdrawals_.Find(id) == nullptr) return decided();
                 withdrawals_.Await(
                     id, [decided](const absl::Status&) { decided(); });
               });
             });
  }
}

absl::Status Dispatcher::OnEntries(const std::vector<std::string>& gone,
                                   const std::vector<std::string>& added) {
  for (const std::string& id : gone) {
    INTERCOM_RETURN_IF_ERROR(
        deliveries_.SetExpiry(id, clock_.Now() + kUnconfiguredKept));
  }
  for (const std::string& id : added) {
    INTERCOM_RETURN_IF_ERROR(deliveries_.ClearExpiry(id));
  }
  return absl::OkStatus();
}

void Dispatcher::ExpireDue() { ExpireAfter({}); }

void Dispatcher::ExpireAfter(ExpiryCursor cursor) {
  runner_.PostCommand(
      {[this, cursor](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(
             const auto expired,
             deliveries_.ExpiredBefore(clock_.Now(), kExpiryPage, cursor));
         for (const v1::DeliveryRecord& record : expired) {
           INTERCOM_RETURN_IF_ERROR(Expire(record, effects));
         }
         if (expired.size() < kExpiryPage) return absl::OkStatus();
         effects.AfterCommit(
             [this, next = ExpiryCursor{FromProto(expired.back().expires_at()),
                                        expired.back().sequence()}] {
               ExpireAfter(next);
             });
         return absl::OkStatus();
       },
       [](const absl::Status& status) {
         spdlog::error("expiry failed: {}", MessageOf(status));
       }});
}

absl::Status Dispatcher::Expire(const v1::DeliveryRecord& record,
                                Effects& effects) {
  // With its host already: that decides.
  const Outbox* outbox = Find(record.recipient_session_id());
  if (outbox != nullptr && outbox->IsInFlight(record.sequence())) {
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const Ending ending,
      EndAlone(record.delivery_id(), StatusOf(record), v1::DELIVERY_END_EXPIRED,
               "waited until its time ran out", effects));
  if (ending.is_told) return absl::OkStatus();
  return TellSender(record, "EXPIRED",
                    ending.is_certain
                        ? "expired before its recipient came back"
                        : "expired; its recipient left while it was on "
                          "its way, and may have it",
                    effects);
}

// Mail to one recipient that is refused, step by step.
struct Dispatcher::Refusal {
  std::string recipient;
  std::string why;
  Refused done;
  int64_t count = 0;
};

void Dispatcher::RefuseMail(const std::string& recipient, std::string why,
                            Refused done) {
  auto refusal = std::make_shared<Refusal>();
  refusal->recipient = recipient;
  refusal->why = std::move(why);
  refusal->done = std::move(done);
  RefuseAfter(0, std::move(refusal));
}

void Dispatcher::RefuseAfter(int64_t sequence,
                             std::shared_ptr<Refusal> refusal) {
  runner_.PostCommand(
      {[this, sequence, refusal](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(
             const auto open,
             deliveries_.NextOpen(refusal->recipient, sequence, kRefusalPage));
         const Outbox* outbox = Find(refusal->recipient);
         int64_t ended = 0;
         for (const v1::DeliveryRecord& record : open) {
           if (outbox != nullptr && outbox->IsInFlight(record.sequence())) {
             continue;
           }
           INTERCOM_ASSIGN_OR_RETURN(
               const Ending ending,
               EndAlone(record.delivery_id(), StatusOf(record),
                        v1::DELIVERY_END_REFUSED, refusal->why, effects));
           ++ended;
           if (ending.is_told) continue;
           INTERCOM_RETURN_IF_ERROR(
               TellSender(record, "REFUSED",
                          "was refused: " + refusal->why +
                              (ending.is_certain
                                   ? ""
                                   : "; it was on its way before and may have "
                                     "arrived"),
                          effects));
         }
         if (open.size() == kRefusalPage) {
           effects.AfterCommit(
               [this, refusal, ended, last = open.back().sequence()] {
                 refusal->count += ended;
                 RefuseAfter(last, refusal);
               });
         } else {
           effects.AfterSync([refusal, count = refusal->count + ended] {
             refusal->done(count);
           });
         }
         return absl::OkStatus();
       },
       [refusal](const absl::Status& status) { refusal->done(status); }});
}

absl::Status Dispatcher::TellSender(const v1::DeliveryRecord& record,
                                    std::string_view topic,
                                    std::string_view what, Effects& effects) {
  const v1::Origin origin = record.sender().origin();
  // Notices make no notices, and a client has no mailbox.
  if (record.envelope().kind() == v1::ENVELOPE_KIND_NOTICE ||
      origin == v1::ORIGIN_BROKER || origin == v1::ORIGIN_CLIENT) {
    return absl::OkStatus();
  }
  const std::string to =
      NameOr(record.recipient_name(), record.recipient_session_id());
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
  Recipient sender{record.sender().session_id(), record.sender().name(), {}};
  if (origin != v1::ORIGIN_PERSON &&
      record.sender().role() != v1::ROLE_COORDINATOR &&
      record.sender().role() != v1::ROLE_WORKER) {
    sender.expires_after = kUnconfiguredKept;
  }
  // Each end is told: none replaces another.
  return AddNotice(BrokerSender(), sender, topic, text, /*quiet=*/false,
                   effects);
}

}  // namespace intercom
