// How senders take their mail back.
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/short_id.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/mail.h"

namespace intercom {
namespace {

constexpr char kCancellationRequest[] = "CANCELLATION_REQUEST";
constexpr char kRequestPrefix[] = "cancel-";
constexpr size_t kMaxEnvelopeIdBytes = 64;

// The same for each request about one envelope, so that a repeat makes no
// second notice.
std::string RequestIdOf(const std::string& envelope_id) {
  std::string id = kRequestPrefix + envelope_id;
  if (id.size() > kMaxEnvelopeIdBytes) {
    id = kRequestPrefix + envelope_id.substr(id.size() - kMaxEnvelopeIdBytes);
  }
  return id;
}

absl::StatusOr<ValidatedEnvelope> RequestAbout(
    const v1::DeliveryRecord& record) {
  const v1::Envelope& envelope = record.envelope();
  v1::Envelope notice;
  notice.set_envelope_id(RequestIdOf(envelope.envelope_id()));
  notice.set_kind(v1::ENVELOPE_KIND_NOTICE);
  notice.set_topic(kCancellationRequest);
  notice.set_text("The sender takes back its " +
                  std::string(envelope.kind() == v1::ENVELOPE_KIND_ASK
                                  ? "question "
                                  : "message ") +
                  ShortIds({envelope.envelope_id()}).front() + " " +
                  QuotedLine(envelope.text()) +
                  ": disregard it, as far as nothing is done yet.");
  notice.set_quiet(true);
  return ValidatedEnvelope::FromBroker(std::move(notice));
}

}  // namespace

void Mail::Withdraw(CallerEvidence evidence, v1::WithdrawMessageRequest request,
                    WithdrawDone done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kMessageWithdraw, evidence);
    if (!caller.ok()) return done(caller.status());
    if (absl::Status valid = CheckEnvelopeId(request.envelope_id());
        !valid.ok()) {
      return done(valid);
    }
    Withdrawal withdrawal{DeliveryId(caller->session_id, request.envelope_id()),
                          request.request_if_late(),
                          std::make_shared<WithdrawDone>(std::move(done))};
    runner_.PostCommand(
        {[this, withdrawal](Effects& effects) -> absl::Status {
           // Whoever takes a question back waits for no answer, even where the
           // mail itself can't be had back.
           INTERCOM_RETURN_IF_ERROR(asks_.Cancel(withdrawal.id, effects));
           effects.AfterCommit(
               [this, withdrawal] { BeginWithdraw(withdrawal); });
           return absl::OkStatus();
         },
         [withdrawal](const absl::Status& status) {
           (*withdrawal.done)(status);
         }});
  });
}

void Mail::BeginWithdraw(const Withdrawal& withdrawal) {
  dispatcher_.Withdraw(
      withdrawal.id, v1::DELIVERY_END_CANCELLED, "withdrawn by its sender",
      [this, withdrawal](const absl::Status& status) {
        const bool is_late = ReasonOf(status) == "TOO_LATE";
        if (!status.ok() && !(is_late && withdrawal.request_if_late)) {
          return (*withdrawal.done)(status);
        }
        runner_.PostCommand({[this, withdrawal, status](Effects& effects) {
                               return EndWithdraw(withdrawal, status, effects);
                             },
                             [withdrawal](const absl::Status& failed) {
                               (*withdrawal.done)(failed);
                             }});
      });
}

absl::Status Mail::EndWithdraw(const Withdrawal& withdrawal,
                               const absl::Status& outcome, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(auto record, deliveries_.Find(withdrawal.id));
  if (!record.has_value()) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
                 "the message is not stored any more");
  }
  v1::WithdrawMessageResponse response;
  if (!outcome.ok()) {
    // What has ended needs no word.
    if (record->end() != v1::DELIVERY_END_UNSPECIFIED) return outcome;
    INTERCOM_ASSIGN_OR_RETURN(const ValidatedEnvelope notice,
                              RequestAbout(*record));
    Recipient recipient{
        record->recipient_session_id(), record->recipient_name(), {}};
    if (record->has_expires_at()) recipient.expires_after = kUnconfiguredKept;
    INTERCOM_RETURN_IF_ERROR(
        dispatcher_.Accept(notice, record->sender(), recipient, effects)
            .status());
    response.set_requested(true);
  }
  *response.mutable_record() = *std::move(record);
  effects.AfterSync([withdrawal, response = std::move(response)]() mutable {
    (*withdrawal.done)(std::move(response));
  });
  return absl::OkStatus();
}

}  // namespace intercom
