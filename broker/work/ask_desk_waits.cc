// How askers wait, and what those who are asked are told.
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/identity.h"
#include "broker/domain/validated_envelope.h"
#include "broker/work/ask_desk.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

absl::Status UnknownAsk(const std::string& envelope_id) {
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_ASK",
               "this caller asked nothing under the id " + envelope_id);
}

}  // namespace

int64_t AskDesk::AwaitReply(CallerEvidence evidence,
                            v1::AwaitReplyRequest request, AwaitDone done) {
  const int64_t ticket = ++last_ticket_;
  absl::Status valid = CheckEnvelopeId(request.envelope_id());
  const absl::Duration wait = FromProtoDuration(request.wait());
  if (wait < absl::ZeroDuration() || wait > kMostWait) {
    valid.Update(Error(absl::StatusCode::kInvalidArgument, "WAIT_INVALID",
                       "a call waits 0 to 30 seconds for a reply; repeat it to "
                       "wait longer"));
  }
  if (!valid.ok()) {
    done(valid);
    return ticket;
  }
  runner_.PostTask([this, ticket, evidence = std::move(evidence),
                    request = std::move(request),
                    done = std::move(done)]() mutable {
    BeginWait(ticket, evidence, request, std::move(done));
  });
  return ticket;
}

void AskDesk::BeginWait(int64_t ticket, const CallerEvidence& evidence,
                        const v1::AwaitReplyRequest& request, AwaitDone done) {
  const auto caller =
      workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
  if (!caller.ok()) return done(caller.status());
  const std::string id = DeliveryId(caller->session_id, request.envelope_id());
  const auto ask = asks_.Find(id);
  if (!ask.ok()) return done(ask.status());
  if (!ask->has_value()) return done(UnknownAsk(request.envelope_id()));
  const absl::Duration wait = FromProtoDuration(request.wait());
  const bool was_awaited = waits_.IsAwaited(id);
  if (!(*ask)->open() || wait == absl::ZeroDuration() || draining_) {
    waits_.Touch(id);
    std::vector<AwaitDone> dones;
    dones.push_back(std::move(done));
    Respond(id, std::move(dones));
  } else {
    waits_.Open(OpenedAs(**ask));
    const auto shared_done = std::make_shared<AwaitDone>(std::move(done));
    if (!waits_.Await(id, ticket, [shared_done](auto response) {
          (*shared_done)(std::move(response));
        })) {
      return (*shared_done)(
          Error(absl::StatusCode::kResourceExhausted, "WAITS_FULL",
                "64 calls wait for replies to this caller already, which is "
                "the limit; end one of them"));
    }
    runner_.PostDelayedTask([this, ticket] { EndWait(ticket); }, wait);
  }
  if ((*ask)->open() && !was_awaited) Changed((*ask)->recipient_session_id);
}

void AskDesk::EndWait(int64_t ticket) {
  auto waiter = waits_.Take(ticket);
  if (!waiter.has_value()) return;
  std::vector<AwaitDone> dones;
  dones.push_back(std::move(waiter->done));
  Respond(waiter->id, std::move(dones));
}

void AskDesk::CancelWait(int64_t ticket) {
  runner_.PostTask([this, ticket] {
    auto waiter = waits_.Take(ticket);
    if (!waiter.has_value()) return;
    waiter->done(
        Error(absl::StatusCode::kCancelled, "CANCELLED", "the call was ended"));
  });
}

void AskDesk::Drain() {
  runner_.PostTask([this] {
    draining_ = true;
    for (AskWaits::Waiter& waiter : waits_.TakeEverybody()) {
      std::vector<AwaitDone> dones;
      dones.push_back(std::move(waiter.done));
      Respond(waiter.id, std::move(dones));
    }
  });
}

void AskDesk::Wake(const std::string& delivery_id) {
  auto dones = waits_.TakeAll(delivery_id);
  if (!dones.empty()) Respond(delivery_id, std::move(dones));
}

void AskDesk::Respond(const std::string& delivery_id,
                      std::vector<AwaitDone> dones) {
  const auto waiting =
      std::make_shared<std::vector<AwaitDone>>(std::move(dones));
  const auto answer =
      [waiting](const absl::StatusOr<v1::AwaitReplyResponse>& response) {
        for (AwaitDone& done : *waiting) done(response);
      };
  runner_.PostCommand(
      {[this, delivery_id, answer](Effects& effects) -> absl::Status {
         INTERCOM_ASSIGN_OR_RETURN(auto response, Take(delivery_id, effects));
         effects.AfterCommit(
             [answer, response = std::move(response)] { answer(response); });
         return absl::OkStatus();
       },
       answer});
}

absl::StatusOr<v1::AwaitReplyResponse> AskDesk::Take(
    const std::string& delivery_id, Effects& effects) {
  v1::AwaitReplyResponse response;
  INTERCOM_ASSIGN_OR_RETURN(const auto ask, asks_.Find(delivery_id));
  if (!ask.has_value()) {
    // It was forgotten since.
    return UnknownAsk(ParseDeliveryId(delivery_id)->envelope_id);
  }
  INTERCOM_ASSIGN_OR_RETURN(*response.mutable_ask(), Describe(*ask));
  if (ask->state != v1::Ask::STATE_ANSWERED) return response;
  INTERCOM_ASSIGN_OR_RETURN(
      auto reply,
      dispatcher_.RecordTaken(ask->reply_delivery_id,
                              IsToldOf(response.ask().asker()), effects));
  if (reply.has_value()) *response.mutable_reply() = *std::move(reply);
  return response;
}

void AskDesk::ListAsks(CallerEvidence evidence, v1::ListAsksRequest request,
                       ListDone done) {
  runner_.PostTask([this, evidence = std::move(evidence), sent = request.sent(),
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
    if (!caller.ok()) return done(caller.status());
    const auto list = [&]() -> absl::StatusOr<v1::ListAsksResponse> {
      INTERCOM_ASSIGN_OR_RETURN(const auto asks,
                                sent ? asks_.OpenOf(caller->session_id)
                                     : answers_.PendingOf(caller->session_id));
      v1::ListAsksResponse response;
      for (const AskRow& ask : asks) {
        INTERCOM_ASSIGN_OR_RETURN(*response.add_asks(), Describe(ask));
      }
      return response;
    };
    done(list());
  });
}

absl::StatusOr<v1::Ask> AskDesk::Describe(const AskRow& ask) const {
  INTERCOM_ASSIGN_OR_RETURN(v1::Ask told, asks_.Describe(ask));
  told.set_awaited(ask.open() && waits_.IsWanted(ask.delivery_id));
  INTERCOM_ASSIGN_OR_RETURN(const auto status,
                            deliveries_.FindStatus(ask.delivery_id));
  if (!status.has_value()) return told;
  told.set_delivery_state(status->state);
  // Enough of the record to say why it waits.
  v1::DeliveryRecord record;
  record.set_delivery_id(ask.delivery_id);
  record.set_sequence(status->sequence);
  record.mutable_sender()->set_session_id(ask.asker_session_id);
  record.set_recipient_session_id(status->recipient_session_id);
  record.set_state(status->state);
  record.set_end(status->end);
  record.set_wait_reason(status->wait_reason);
  dispatcher_.DescribeWait(record);
  told.set_wait_reason(record.wait_reason());
  return told;
}

absl::StatusOr<std::vector<v1::Ask>> AskDesk::PendingOf(
    std::string_view session_id) const {
  INTERCOM_ASSIGN_OR_RETURN(const auto pending, answers_.PendingOf(session_id));
  std::vector<v1::Ask> told;
  for (const AskRow& ask : pending) {
    INTERCOM_ASSIGN_OR_RETURN(told.emplace_back(), Describe(ask));
  }
  return told;
}

absl::StatusOr<std::optional<v1::Ask>> AskDesk::AwaitedOf(
    std::string_view session_id) const {
  INTERCOM_ASSIGN_OR_RETURN(auto pending, PendingOf(session_id));
  for (v1::Ask& ask : pending) {
    if (ask.awaited()) return std::move(ask);
  }
  return std::nullopt;
}

void AskDesk::OnAttached(Attachment& attachment) {
  waits_.OnRecipient(attachment.session_id, /*is_there=*/true);
  TellPending(attachment, /*none_too=*/false);
}

void AskDesk::OnDetached(const Attachment& attachment, bool) {
  waits_.OnRecipient(attachment.session_id, /*is_there=*/false);
}

absl::StatusOr<std::vector<AskDesk::OpenAsk>> AskDesk::AllOpen() const {
  INTERCOM_ASSIGN_OR_RETURN(auto rows, asks_.AllOpen());
  std::vector<OpenAsk> open;
  for (AskRow& row : rows) {
    const auto until = waits_.WantedUntil(row.delivery_id);
    open.push_back({std::move(row), until});
  }
  return open;
}

absl::StatusOr<std::vector<v1::Ask>> AskDesk::OpenOf(
    std::string_view session_id) const {
  INTERCOM_ASSIGN_OR_RETURN(const auto open, asks_.OpenOf(session_id));
  std::vector<v1::Ask> told;
  for (const AskRow& ask : open) {
    INTERCOM_ASSIGN_OR_RETURN(told.emplace_back(), Describe(ask));
  }
  return told;
}

void AskDesk::Changed(const std::string& session_id) {
  if (on_waits_) on_waits_();
  if (changed_.empty()) {
    runner_.PostTask([this] { TellChanges(); });
  }
  changed_.insert(session_id);
}

void AskDesk::TellChanges() {
  for (const std::string& session_id : std::exchange(changed_, {})) {
    if (Attachment* attachment = roster_.Find(session_id)) {
      TellPending(*attachment, /*none_too=*/true);
    }
  }
}

void AskDesk::TellPending(Attachment& attachment, bool none_too) {
  v1::AttachResponse frame;
  v1::PendingAsks& told = *frame.mutable_pending_asks();
  const auto pending = PendingOf(attachment.session_id);
  if (!pending.ok()) {
    spdlog::error("can't read the asks to {}: {}", attachment.session_id,
                  MessageOf(pending.status()));
    return;
  }
  for (const v1::Ask& ask : *pending) *told.add_asks() = ask;
  if (told.asks_size() > 0 || none_too) {
    attachment.link->Send(std::move(frame));
  }
}

}  // namespace intercom
