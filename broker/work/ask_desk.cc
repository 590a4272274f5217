#include "broker/work/ask_desk.h"

#include <iterator>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/work/age_text.h"
#include "spdlog/spdlog.h"

namespace intercom {

AskDesk::AskDesk(StateRunner& runner, Workspaces& workspaces, Roster& roster,
                 AskStore& asks, DeliveryStore& deliveries,
                 Dispatcher& dispatcher, const Clock& clock)
    : runner_(runner),
      workspaces_(workspaces),
      roster_(roster),
      asks_(asks),
      deliveries_(deliveries),
      dispatcher_(dispatcher),
      clock_(clock),
      waits_(clock),
      answers_(asks, deliveries, dispatcher, waits_, clock) {
  dispatcher_.AddOnEnded(
      [this](const std::string& delivery_id, v1::DeliveryEnd end, bool,
             Effects& effects) { return OnEnded(delivery_id, end, effects); });
}

absl::Status AskDesk::Load() {
  INTERCOM_ASSIGN_OR_RETURN(const auto open, asks_.AllOpen());
  for (const AskRow& ask : open) waits_.Open(OpenedAs(ask));
  // Whoever waited for these comes back, or they are mail.
  INTERCOM_ASSIGN_OR_RETURN(const auto answered, asks_.WithReplyUnderWay());
  for (const AskRow& ask : answered) {
    waits_.Open(OpenedAs(ask));
    waits_.SetAside(ask.delivery_id, ask.reply_delivery_id);
    dispatcher_.SetAside(ask.reply_delivery_id);
  }
  return absl::OkStatus();
}

AskWaits::Opened AskDesk::OpenedAs(const AskRow& ask) const {
  return {ask.delivery_id, ask.asker_session_id, ask.recipient_session_id,
          ask.deadline_at - clock_.Now(),
          roster_.Find(ask.recipient_session_id) != nullptr};
}

absl::Status AskDesk::CheckAsk(const DecidedCall& call,
                               const PeerTarget& target,
                               const v1::Envelope& envelope) const {
  const std::string& asker = call.caller.session_id;
  const std::string name = NameOr(target.name, target.session_id);
  if (IsPersonSessionId(target.session_id)) {
    return Error(absl::StatusCode::kFailedPrecondition, "RECIPIENT_AWAY",
                 "a person reads mail when they look into it, and nobody can "
                 "wait for that; nothing was sent. Send a message, which waits "
                 "for them; what they answer comes as a message of its own");
  }
  if (!target.attached) {
    return Error(absl::StatusCode::kFailedPrecondition, "RECIPIENT_AWAY",
                 name +
                     " is not there to answer; nothing was sent. Send it a "
                     "message instead, which waits for it");
  }
  INTERCOM_ASSIGN_OR_RETURN(const auto open, asks_.OpenOf(asker));
  const std::string superseded = envelope.supersedes().empty()
                                     ? ""
                                     : DeliveryId(asker, envelope.supersedes());
  int count = 0;
  for (const AskRow& ask : open) {
    if (ask.delivery_id == superseded) continue;
    ++count;
    if (ask.recipient_session_id != target.session_id) continue;
    INTERCOM_ASSIGN_OR_RETURN(const v1::Ask told, asks_.Describe(ask));
    return Error(
        absl::StatusCode::kFailedPrecondition, "ASK_OPEN",
        name + " was asked already, " + AgeText(clock_.Now() - ask.asked_at) +
            " ago: " + QuotedLine(told.preview()) + " (" +
            IdLabel(ParseDeliveryId(ask.delivery_id)->envelope_id) +
            "). Wait for that reply, or take it back with cancel first; "
            "nothing was sent");
  }
  if (count >= kMaxOpen) {
    return Error(absl::StatusCode::kResourceExhausted, "ASKS_FULL",
                 "this session waits for " + std::to_string(kMaxOpen) +
                     " replies already, which is the limit; nothing was sent. "
                     "Wait for one, or take one back with cancel");
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto way,
      FindWay(target.session_id, asker, /*skip=*/target.session_id));
  return way.empty() ? absl::OkStatus() : Cycle(way, target);
}

absl::StatusOr<std::vector<WaitEdge>> AskDesk::FindWay(
    const std::string& start, const std::string& goal,
    std::string_view skip) const {
  const auto edges =
      [&](std::string_view session) -> absl::StatusOr<std::vector<WaitEdge>> {
    std::vector<WaitEdge> found;
    INTERCOM_ASSIGN_OR_RETURN(const auto asks, asks_.OpenOf(session));
    for (const AskRow& ask : asks) {
      if (!waits_.IsAwaited(ask.delivery_id)) continue;
      found.push_back(
          {ask.delivery_id, ask.asker_session_id, ask.recipient_session_id});
    }
    if (!more_edges_ || session == skip) return found;
    std::vector<WaitEdge> more = more_edges_(session);
    if (more.empty()) return found;
    // A question ends the other waits of whom it is put to.
    INTERCOM_ASSIGN_OR_RETURN(const auto asked, AwaitedOf(session));
    if (asked.has_value()) return found;
    std::move(more.begin(), more.end(), std::back_inserter(found));
    return found;
  };
  return FindWaitingWay(start, goal, edges);
}

absl::Status AskDesk::Cycle(const std::vector<WaitEdge>& way,
                            const PeerTarget& target) const {
  const WaitEdge& last = way.back();
  std::string told;
  for (const WaitEdge& edge : way) {
    told += (told.empty() ? "" : ", ") + NameOf(edge.from) + " waits for " +
            (&edge == &last ? "you" : NameOf(edge.to));
  }
  const auto ask = ParseDeliveryId(last.id);
  return Error(
      absl::StatusCode::kFailedPrecondition, "ASK_CYCLE",
      "nobody in this circle could answer: " + told +
          ", and you would wait for " + NameOf(target.session_id) + ". " +
          (ask.has_value()
               ? "Answer first: " + NameOf(last.from) +
                     " waits for you, reply to it (" +
                     IdLabel(ask->envelope_id) + ")"
               : NameOf(last.from) + " waits for your " + SafeLabel(last.id) +
                     ": finish that first, or ask " + NameOf(last.from)) +
          ". Nothing was sent");
}

std::string AskDesk::NameOf(const std::string& session_id) const {
  const Attachment* attachment = roster_.Find(session_id);
  if (attachment == nullptr) return IdLabel(session_id, 80);
  const std::string& name = attachment->entry.has_value()
                                ? attachment->entry->name()
                                : attachment->session_name;
  return NameOr(name, session_id);
}

absl::Status AskDesk::OnAccepted(const v1::DeliveryRecord& record,
                                 const std::string& scope, Effects& effects) {
  const v1::Envelope& envelope = record.envelope();
  if (!envelope.supersedes().empty()) {
    INTERCOM_RETURN_IF_ERROR(
        Cancel(DeliveryId(record.sender().session_id(), envelope.supersedes()),
               effects));
  }
  if (envelope.kind() == v1::ENVELOPE_KIND_ASK) {
    return Open(record, scope, effects);
  }
  if (envelope.kind() == v1::ENVELOPE_KIND_REPLY) {
    return Answer(record, effects);
  }
  return absl::OkStatus();
}

absl::Status AskDesk::Open(const v1::DeliveryRecord& record,
                           const std::string& scope, Effects& effects) {
  AskRow ask;
  ask.delivery_id = record.delivery_id();
  ask.sequence = record.sequence();
  ask.scope = scope;
  ask.asker_session_id = record.sender().session_id();
  ask.recipient_session_id = record.recipient_session_id();
  ask.asked_at = FromProto(record.marks(0).at());
  ask.deadline_at =
      ask.asked_at + FromProtoDuration(record.envelope().reply_within());
  INTERCOM_ASSIGN_OR_RETURN(const bool added, asks_.Add(ask));
  if (!added) return absl::OkStatus();
  effects.AfterCommit([this, ask] {
    waits_.Open(OpenedAs(ask));
    Changed(ask.recipient_session_id);
    Tell(ask);
    if (on_opened_) on_opened_(ask.recipient_session_id);
  });
  return absl::OkStatus();
}

absl::Status AskDesk::Answer(const v1::DeliveryRecord& reply,
                             Effects& effects) {
  const std::string& id = reply.envelope().reply_to();
  INTERCOM_ASSIGN_OR_RETURN(const auto ask, asks_.Find(id));
  // A repeat changes nothing.
  if (ask.has_value() && ask->reply_delivery_id == reply.delivery_id()) {
    return absl::OkStatus();
  }
  // Accepted as one that a wait takes, it is mail where no wait will.
  const auto release = [this, reply_id = reply.delivery_id()] {
    dispatcher_.Release(reply_id);
  };
  if (!ask.has_value()) {
    effects.AfterCommit(release);
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const bool answered, asks_.Answer(id, reply.delivery_id(), clock_.Now()));
  if (!answered) {
    effects.AfterCommit(release);
    return absl::OkStatus();
  }
  // Mail that is answered wakes nobody any more.
  INTERCOM_ASSIGN_OR_RETURN(const auto asked, deliveries_.FindStatus(id));
  const bool is_obsolete = asked.has_value() && asked->open();
  AskRow after = *ask;
  after.reply_delivery_id = reply.delivery_id();
  if (ask->open()) {
    after.state = v1::Ask::STATE_ANSWERED;
    after.settled_at = clock_.Now();
  }
  effects.AfterCommit(
      [this, ask = std::move(after), reply_id = reply.delivery_id(),
       is_set_aside = ask->open() && waits_.IsAwaited(id), is_obsolete] {
        const std::string& id = ask.delivery_id;
        Tell(ask);
        if (is_set_aside) waits_.SetAside(id, reply_id);
        Wake(id);
        if (!is_set_aside) {
          waits_.Forget(id);
          dispatcher_.Release(reply_id);
        }
        Changed(ask.recipient_session_id);
        if (!is_obsolete) return;
        dispatcher_.Withdraw(id, v1::DELIVERY_END_CANCELLED,
                             "answered by " + reply_id,
                             [](const absl::Status&) {});
      });
  return absl::OkStatus();
}

absl::Status AskDesk::Cancel(const std::string& delivery_id, Effects& effects) {
  return Settle(delivery_id, v1::Ask::STATE_CANCELLED, effects);
}

absl::Status AskDesk::Settle(const std::string& delivery_id,
                             v1::Ask::State state, Effects& effects) {
  INTERCOM_ASSIGN_OR_RETURN(const auto ask, asks_.Find(delivery_id));
  INTERCOM_ASSIGN_OR_RETURN(const bool settled,
                            asks_.Settle(delivery_id, state, clock_.Now()));
  effects.AfterCommit(
      [this, delivery_id, settled, ask, state, now = clock_.Now()] {
        Wake(delivery_id);
        waits_.ForgetOpen(delivery_id);
        if (!settled) return;
        Changed(ask->recipient_session_id);
        AskRow after = *ask;
        after.state = state;
        after.settled_at = now;
        Tell(after);
      });
  return absl::OkStatus();
}

absl::StatusOr<bool> AskDesk::OnEnded(const std::string& delivery_id,
                                      v1::DeliveryEnd end, Effects& effects) {
  const bool by_sender =
      end == v1::DELIVERY_END_CANCELLED || end == v1::DELIVERY_END_SUPERSEDED;
  INTERCOM_ASSIGN_OR_RETURN(const auto ask, asks_.Find(delivery_id));
  if (ask.has_value()) {
    if (!ask->open()) return false;
    INTERCOM_RETURN_IF_ERROR(Settle(
        delivery_id,
        by_sender ? v1::Ask::STATE_CANCELLED : v1::Ask::STATE_RECIPIENT_GONE,
        effects));
    return waits_.HasWaiters(delivery_id);
  }
  if (!by_sender) return false;
  // A reply that its sender took back before anybody had it.
  INTERCOM_ASSIGN_OR_RETURN(const auto answered,
                            asks_.FindByReply(delivery_id));
  if (!answered.has_value()) return false;
  INTERCOM_ASSIGN_OR_RETURN(const auto reply,
                            deliveries_.FindStatus(delivery_id));
  if (reply.has_value() && reply->state >= v1::DELIVERY_STATE_DELIVERED) {
    return false;
  }
  INTERCOM_RETURN_IF_ERROR(asks_.ForgetReply(answered->delivery_id));
  effects.AfterCommit([this, delivery_id, ask = *answered] {
    dispatcher_.Release(delivery_id);
    AskRow after = ask;
    after.reply_delivery_id.clear();
    if (ask.state == v1::Ask::STATE_ANSWERED) {
      waits_.SetAside(ask.delivery_id, "");
      waits_.Open(OpenedAs(ask));
      after.state = v1::Ask::STATE_OPEN;
      after.settled_at.reset();
    }
    Changed(ask.recipient_session_id);
    Tell(after);
  });
  return false;
}

void AskDesk::OnMailMoved(const std::string& from, const std::string& to) {
  const auto pending = answers_.PendingOf(to);
  if (!pending.ok()) {
    spdlog::error("can't read the asks to {}: {}", to,
                  MessageOf(pending.status()));
    return;
  }
  for (const AskRow& ask : *pending) waits_.SetRecipient(ask.delivery_id, to);
  waits_.OnRecipient(to, roster_.Find(to) != nullptr);
  Changed(from);
  Changed(to);
  if (on_opened_ && !pending->empty()) on_opened_(to);
}

std::vector<std::string> AskDesk::WaitsFor(std::string_view session_id) const {
  std::vector<std::string> awaited;
  const auto open = asks_.OpenOf(session_id);
  if (!open.ok()) {
    spdlog::error("can't read the asks of {}: {}", session_id,
                  MessageOf(open.status()));
    return awaited;
  }
  for (const AskRow& ask : *open) {
    if (waits_.IsAwaited(ask.delivery_id)) {
      awaited.push_back(ask.recipient_session_id);
    }
  }
  return awaited;
}

void AskDesk::Tick() {
  AskWaits::Due due = waits_.TakeDue();
  for (const std::string& recipient : due.lapsed_recipients) Changed(recipient);
  for (const std::string& reply : due.released) dispatcher_.Release(reply);
  if (due.ended.empty()) return;
  runner_.PostCommand(
      {[this, ended = std::move(due.ended)](Effects& effects) -> absl::Status {
         for (const auto& [id, state] : ended) {
           INTERCOM_RETURN_IF_ERROR(Settle(id, state, effects));
         }
         return absl::OkStatus();
       },
       [](const absl::Status& status) {
         spdlog::error("asks are not ended yet: {}", MessageOf(status));
       }});
}

}  // namespace intercom
