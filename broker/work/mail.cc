#include "broker/work/mail.h"

#include <memory>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"
#include "google/protobuf/util/message_differencer.h"

namespace intercom {
namespace {

constexpr size_t kMaxAllowances = 4096;

// Whether `envelope` is what is stored already. What the broker worked out for
// the first one, which it answers and to whom it goes, a repeat need not say.
bool HasContentOf(const v1::DeliveryRecord& stored, v1::Envelope envelope) {
  const v1::Envelope& first = stored.envelope();
  if (envelope.reply_to().empty() ||
      first.reply_to().find(envelope.reply_to()) != std::string::npos) {
    envelope.set_reply_to(first.reply_to());
  }
  if (!first.reply_to().empty() &&
      (envelope.kind() == v1::ENVELOPE_KIND_MESSAGE ||
       envelope.kind() == v1::ENVELOPE_KIND_REPLY)) {
    envelope.set_kind(first.kind());
  }
  return google::protobuf::util::MessageDifferencer::Equals(first, envelope);
}

// Whether `to` can be whom the stored envelope was sent to. A prefix, a name of
// another kind, or nothing can't be told from it.
bool NamesAddressee(const std::string& to, const v1::DeliveryRecord& stored) {
  if (to.empty() || FoldName(to) == FoldName(stored.recipient_name())) {
    return true;
  }
  return AddresseeOf(stored).starts_with(to);
}

// `everywhere`: to one beyond the workspace, where each has a Coordinator: the
// name of its own tells one apart.
v1::Sender SenderOf(const DecidedCall& call, const Roster& roster,
                    bool everywhere) {
  v1::Sender sender;
  sender.set_session_id(call.caller.session_id);
  sender.set_origin(call.caller.origin);
  sender.set_role(call.role);
  sender.set_workspace_root(call.root());
  const v1::AgentEntry* entry =
      call.workspace == nullptr
          ? nullptr
          : call.workspace->EntryOf(call.caller.host_session_id);
  const Attachment* attachment = roster.Find(call.caller.host_session_id);
  const bool by_own_name =
      entry == nullptr || (everywhere && entry->coordinator());
  if (by_own_name && attachment != nullptr &&
      !IsBlank(attachment->session_name)) {
    sender.set_name(attachment->session_name);
  } else if (entry != nullptr) {
    sender.set_name(entry->name());
  }
  return sender;
}

}  // namespace

void Mail::Send(CallerEvidence evidence, v1::SendRequest request,
                RecordDone done) {
  absl::StatusOr<ValidatedEnvelope> envelope =
      ValidatedEnvelope::FromClient(request.envelope());
  absl::Status valid = envelope.status();
  valid.Update(RunOpenings::CheckRequest(request));
  if (!valid.ok()) {
    return runner_.PostTask([this, valid, done = std::move(done)]() mutable {
      Refuse(valid, done);
    });
  }
  // Whose run it is about, and who is a fellow, needs no workspace.
  if (!request.to_run().empty() || request.to_fellow()) {
    request.set_reach(v1::REACH_ACCOUNT);
  }
  const bool everywhere = request.reach() == v1::REACH_ACCOUNT;
  // Kept for the answer to a repeat.
  struct Sending {
    v1::SendRequest request;
    ValidatedEnvelope envelope;
    RecordDone done;
  };
  const auto sending = std::make_shared<Sending>(
      Sending{std::move(request), *std::move(envelope), std::move(done)});
  Workspaces::Use use = [this, sending](const DecidedCall& call,
                                        Effects& effects) -> absl::Status {
    INTERCOM_RETURN_IF_ERROR(Spend(call.caller.session_id));
    // One that is being closed says what it has to say in its handoff.
    INTERCOM_RETURN_IF_ERROR(
        fences_.Check(call.root(), call.caller.host_session_id));
    INTERCOM_ASSIGN_OR_RETURN(const bool is_repeat,
                              IsRepeat(call, sending->request));
    INTERCOM_ASSIGN_OR_RETURN(
        const Addressed addressed,
        Address(call, sending->request, is_repeat, sending->envelope));
    if (sending->request.to_fellow() && !is_repeat) {
      INTERCOM_RETURN_IF_ERROR(
          runs_.SpendFellowMessage(call, sending->request, effects));
    }
    runs_.Foresee(call, sending->request, effects);
    INTERCOM_ASSIGN_OR_RETURN(
        v1::DeliveryRecord record,
        dispatcher_.Accept(
            addressed.envelope,
            SenderOf(call, roster_,
                     sending->request.reach() == v1::REACH_ACCOUNT),
            addressed.recipient, effects));
    INTERCOM_RETURN_IF_ERROR(asks_.OnAccepted(record, call.scope, effects));
    INTERCOM_RETURN_IF_ERROR(
        runs_.OnAccepted(call, sending->request, is_repeat, record, effects));
    effects.AfterSync([sending, record = std::move(record)]() mutable {
      sending->done(std::move(record));
    });
    return absl::OkStatus();
  };
  Workspaces::Failed failed = [this, evidence,
                               sending](const absl::Status& status) {
    // The first may have been without a run.
    if (sending->request.has_run() &&
        ReasonOf(status) == "ENVELOPE_ID_REUSED") {
      return Refuse(status, sending->done);
    }
    // Names of the account may be other sessions' by now: sender, id and
    // content say that it is the same.
    const std::string to = sending->request.reach() == v1::REACH_ACCOUNT
                               ? ""
                               : sending->request.to();
    AnswerRepeat(evidence, sending->envelope, to, status,
                 std::make_shared<RecordDone>([sending](auto record) {
                   sending->done(std::move(record));
                 }));
  };
  if (everywhere) {
    workspaces_.DecideAnywhere(evidence, sending->request.scope(),
                               Operation::kPeerSend, std::move(use),
                               std::move(failed));
  } else {
    workspaces_.Decide(evidence, sending->request.directory(),
                       Operation::kMessageSend,
                       /*last_good=*/false, std::move(use), std::move(failed));
  }
}

absl::StatusOr<bool> Mail::IsRepeat(const DecidedCall& call,
                                    const v1::SendRequest& request) {
  if (request.envelope().kind() != v1::ENVELOPE_KIND_ASK &&
      !request.has_run() && !request.to_fellow()) {
    return false;
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto stored,
      deliveries_.FindStatus(DeliveryId(call.caller.session_id,
                                        request.envelope().envelope_id())));
  return stored.has_value();
}

absl::StatusOr<Mail::Addressed> Mail::Address(const DecidedCall& call,
                                              const v1::SendRequest& request,
                                              bool is_repeat,
                                              ValidatedEnvelope envelope) {
  const v1::Envelope& sent = envelope.value();
  const bool is_answer =
      sent.kind() == v1::ENVELOPE_KIND_REPLY || !sent.reply_to().empty();
  std::optional<PeerTarget> target;
  if (!request.to().empty() || !request.cwd().empty() ||
      !request.to_run().empty() || !is_answer) {
    INTERCOM_ASSIGN_OR_RETURN(target, FindRecipient(call, request));
  }
  std::optional<AnswerTarget> answered;
  if (is_answer) {
    INTERCOM_ASSIGN_OR_RETURN(answered,
                              asks_.answers().Find(call, request, target));
    INTERCOM_ASSIGN_OR_RETURN(target, FindAnswered(call, *answered));
  } else if (sent.kind() == v1::ENVELOPE_KIND_ASK) {
    // A repeat is open by its own doing.
    if (!is_repeat) {
      INTERCOM_RETURN_IF_ERROR(asks_.CheckAsk(call, *target, sent));
    }
  } else if (request.has_run()) {
    if (!is_repeat) {
      INTERCOM_RETURN_IF_ERROR(runs_.CheckOpening(call, *target));
    }
  } else {
    INTERCOM_ASSIGN_OR_RETURN(
        answered,
        asks_.answers().Infer(call, target->session_id, request.trigger()));
  }
  if (answered.has_value()) {
    envelope = envelope.AsAnswerTo(answered->delivery_id, answered->is_ask);
  }
  INTERCOM_RETURN_IF_ERROR(AnswerReport(call, sent, target->session_id));
  Recipient recipient{target->session_id, target->name, {}, call.scope};
  if (!target->configured && !IsPersonSessionId(target->session_id)) {
    recipient.expires_after = kUnconfiguredKept;
  }
  recipient.set_aside = answered.has_value() && answered->is_awaited;
  return Addressed{std::move(envelope), std::move(recipient)};
}

absl::StatusOr<PeerTarget> Mail::FindAnswered(const DecidedCall& call,
                                              const AnswerTarget& answered) {
  if (IsPersonSessionId(answered.session_id)) {
    return PeerTarget{answered.session_id, std::string(kPersonName)};
  }
  if (!answered.is_session) {
    return PeerTarget{answered.session_id, answered.name};
  }
  if (call.caller.origin != v1::ORIGIN_PERSON) {
    return peers_.Find(call, answered.session_id);
  }
  // A person has one mailbox for all scopes, and answers into any of them.
  DecidedCall there = call;
  INTERCOM_ASSIGN_OR_RETURN(there.scope, peers_.ScopeOf(answered.session_id));
  return peers_.Find(there, answered.session_id);
}

absl::StatusOr<PeerTarget> Mail::FindRecipient(const DecidedCall& call,
                                               const v1::SendRequest& request) {
  if (!request.to_run().empty()) {
    return runs_.FindWorker(call, request.to_run());
  }
  if (request.to_fellow()) return runs_.FindFellow(call, request);
  absl::StatusOr<PeerTarget> found = FindSession(call, request);
  const std::string person = Callers::OfPerson();
  if (ReasonOf(found.status()) != "UNKNOWN_RECIPIENT" ||
      !request.cwd().empty() ||
      (NameKey(request.to()) != kPersonName && request.to() != person)) {
    return found;
  }
  if (call.caller.session_id == person) {
    return Error(absl::StatusCode::kInvalidArgument, "SELF_TARGET",
                 "the mailbox of the person is your own; nothing was sent");
  }
  return PeerTarget{person, std::string(kPersonName)};
}

absl::StatusOr<PeerTarget> Mail::FindSession(const DecidedCall& call,
                                             const v1::SendRequest& request) {
  if (request.reach() == v1::REACH_ACCOUNT) {
    return peers_.Resolve(call, request.to(), request.cwd());
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const v1::AgentEntry entry,
      Route(request.to(), call.caller.session_id, call.workspace->agents));
  INTERCOM_RETURN_IF_ERROR(CheckLoaded(call, entry));
  return PeerTarget{
      entry.session_id(), entry.name(),
      roster_.PresenceOf(entry.session_id()).presence != v1::PRESENCE_AWAY,
      /*configured=*/true};
}

void Mail::AnswerRepeat(const CallerEvidence& evidence,
                        const ValidatedEnvelope& envelope,
                        const std::string& to, const absl::Status& refusal,
                        std::shared_ptr<RecordDone> done) {
  const absl::StatusOr<Caller> caller = workspaces_.callers().Resolve(evidence);
  if (!caller.ok()) return Refuse(refusal, *done);
  auto stored = deliveries_.Find(
      DeliveryId(caller->session_id, envelope.value().envelope_id()));
  if (!stored.ok() || !stored->has_value() ||
      !HasContentOf(**stored, envelope.value()) ||
      !NamesAddressee(to, **stored)) {
    return Refuse(refusal, *done);
  }
  // The first may not be durable yet.
  runner_.PostCommand(
      {[this, record = **std::move(stored), done](Effects& effects) mutable {
         dispatcher_.DescribeWait(record);
         runs_.Describe(record);
         effects.AfterSync([done, record = std::move(record)]() mutable {
           (*done)(std::move(record));
         });
         return absl::OkStatus();
       },
       [done](const absl::Status& status) { (*done)(status); }});
}

void Mail::Refuse(const absl::Status& why, RecordDone& done) {
  if (on_refused_) on_refused_(why);
  done(why);
}

absl::Status Mail::Spend(const std::string& sender) {
  if (allowances_.size() >= kMaxAllowances && !allowances_.contains(sender)) {
    allowances_.clear();  // Everybody starts with a full burst again.
  }
  const auto [found, added] =
      allowances_.try_emplace(sender, kSendBurst, kSendsPerSecond);
  if (found->second.Spend(clock_.Steady())) return absl::OkStatus();
  return Error(absl::StatusCode::kResourceExhausted, "SEND_RATE",
               "this session sends more than 120 messages a second beyond "
               "its burst of 240; nothing was sent, try again in a second");
}

absl::Status Mail::CheckLoaded(const DecidedCall& call,
                               const v1::AgentEntry& recipient) const {
  const auto has_not_loaded = [](const Attachment* attachment) {
    return attachment != nullptr && !attachment->has_loaded();
  };
  if (call.role == v1::ROLE_WORKER &&
      has_not_loaded(roster_.Find(call.caller.host_session_id))) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "RESPONSIBILITY_NOT_LOADED",
                 "this session was configured but has not loaded its "
                 "responsibility; the coordinator calls "
                 "intercom_reload_worker. Nothing was sent");
  }
  if (has_not_loaded(roster_.Find(recipient.session_id()))) {
    return Error(absl::StatusCode::kFailedPrecondition,
                 "RESPONSIBILITY_NOT_LOADED",
                 NameLabel(recipient.name()) +
                     " was configured but has not loaded its responsibility; " +
                     (call.role == v1::ROLE_COORDINATOR
                          ? "call intercom_reload_worker first"
                          : "the coordinator calls intercom_reload_worker; "
                            "ask it") +
                     ". Nothing was sent");
  }
  return absl::OkStatus();
}

absl::Status Mail::AnswerReport(const DecidedCall& call,
                                const v1::Envelope& envelope,
                                const std::string& recipient) {
  if (call.workspace == nullptr || (call.role != v1::ROLE_COORDINATOR &&
                                    call.caller.origin != v1::ORIGIN_PERSON)) {
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto repeated,
      deliveries_.FindStatus(
          DeliveryId(call.caller.session_id, envelope.envelope_id())));
  if (repeated.has_value()) return absl::OkStatus();
  return reports_.SetAnswered(call.root(), recipient, clock_.Now());
}

}  // namespace intercom
