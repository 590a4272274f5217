#include "broker/work/mail.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "broker/domain/route.h"
#include "broker/domain/text_rules.h"
#include "broker/domain/validated_envelope.h"

namespace intercom {
namespace {

constexpr size_t kMinPrefix = 6;
constexpr int kMaxPage = 200;
constexpr int kDefaultPage = 20;
constexpr size_t kMaxAllowances = 4096;

absl::Status UnknownEnvelope(const std::string& id) {
  return Error(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE",
               "no stored message has the id \"" + SafeLabel(id, 400) +
                   "\"; intercom history lists the latest");
}

// Whether `envelope`, sent to `to`, is what is stored already.
bool IsRepeat(const v1::DeliveryRecord& stored, const v1::Envelope& envelope,
              const std::string& to) {
  const v1::Envelope& first = stored.envelope();
  return first.kind() == envelope.kind() && first.text() == envelope.text() &&
         first.topic() == envelope.topic() &&
         first.reply_to() == envelope.reply_to() &&
         first.quiet() == envelope.quiet() &&
         first.supersedes() == envelope.supersedes() &&
         (to == stored.recipient_session_id() ||
          FoldName(to) == FoldName(stored.recipient_name()));
}

v1::Sender SenderOf(const DecidedCall& call, const Roster& roster) {
  v1::Sender sender;
  sender.set_session_id(call.caller.session_id);
  sender.set_origin(call.caller.origin);
  sender.set_role(call.role);
  sender.set_workspace_root(call.workspace->root);
  if (const v1::AgentEntry* entry =
          call.workspace->EntryOf(call.caller.host_session_id)) {
    sender.set_name(entry->name());
  } else if (const Attachment* attachment =
                 roster.Find(call.caller.host_session_id)) {
    sender.set_name(attachment->session_name);
  }
  return sender;
}

}  // namespace

void Mail::Send(CallerEvidence evidence, v1::SendRequest request,
                RecordDone done) {
  absl::StatusOr<ValidatedEnvelope> envelope =
      ValidatedEnvelope::FromClient(std::move(*request.mutable_envelope()));
  if (!envelope.ok()) return done(envelope.status());
  auto shared_done = std::make_shared<RecordDone>(std::move(done));
  const auto shared_envelope =
      std::make_shared<const ValidatedEnvelope>(*std::move(envelope));
  workspaces_.Decide(
      evidence, request.directory(), Operation::kMessageSend,
      /*last_good=*/false,
      [this, shared_envelope, to = request.to(), shared_done](
          const DecidedCall& call, Effects& effects) -> absl::Status {
        INTERCOM_RETURN_IF_ERROR(Spend(call.caller.session_id));
        // One that is being closed says what it has to say in its handoff.
        INTERCOM_RETURN_IF_ERROR(
            fences_.Check(call.workspace->root, call.caller.host_session_id));
        INTERCOM_ASSIGN_OR_RETURN(
            const v1::AgentEntry recipient,
            Route(to, call.caller.session_id, call.workspace->agents));
        INTERCOM_RETURN_IF_ERROR(CheckLoaded(call, recipient));
        INTERCOM_RETURN_IF_ERROR(
            AnswerReport(call, shared_envelope->value(), recipient));
        INTERCOM_ASSIGN_OR_RETURN(
            v1::DeliveryRecord record,
            dispatcher_.Accept(*shared_envelope, SenderOf(call, roster_),
                               {recipient.session_id(), recipient.name(), {}},
                               effects));
        effects.AfterSync([shared_done, record = std::move(record)]() mutable {
          (*shared_done)(std::move(record));
        });
        return absl::OkStatus();
      },
      [this, evidence, shared_envelope, to = request.to(),
       shared_done](const absl::Status& status) {
        AnswerRepeat(evidence, *shared_envelope, to, status, shared_done);
      });
}

void Mail::AnswerRepeat(const CallerEvidence& evidence,
                        const ValidatedEnvelope& envelope,
                        const std::string& to, const absl::Status& refusal,
                        std::shared_ptr<RecordDone> done) {
  const absl::StatusOr<Caller> caller = workspaces_.callers().Resolve(evidence);
  if (!caller.ok()) return (*done)(refusal);
  auto stored = deliveries_.Find(
      DeliveryId(caller->session_id, envelope.value().envelope_id()));
  if (!stored.ok() || !stored->has_value() ||
      !IsRepeat(**stored, envelope.value(), to)) {
    return (*done)(refusal);
  }
  // The first may not be durable yet.
  runner_.PostCommand(
      {[this, record = **std::move(stored), done](Effects& effects) mutable {
         dispatcher_.DescribeWait(record);
         effects.AfterSync([done, record = std::move(record)]() mutable {
           (*done)(std::move(record));
         });
         return absl::OkStatus();
       },
       [done](const absl::Status& status) { (*done)(status); }});
}

absl::Status Mail::Spend(const std::string& sender) {
  const absl::Duration now = clock_.Steady();
  if (allowances_.size() >= kMaxAllowances && !allowances_.contains(sender)) {
    allowances_.clear();  // Everybody starts with a full burst again.
  }
  const auto [found, added] = allowances_.try_emplace(sender);
  Allowance& allowance = found->second;
  if (!added) {
    allowance.sends =
        std::min(kSendBurst,
                 allowance.sends + absl::ToDoubleSeconds(now - allowance.at) *
                                       kSendsPerSecond);
  }
  allowance.at = now;
  if (allowance.sends < 1) {
    return Error(absl::StatusCode::kResourceExhausted, "SEND_RATE",
                 "this session sends more than 120 messages a second beyond "
                 "its burst of 240; nothing was sent, try again in a second");
  }
  allowance.sends -= 1;
  return absl::OkStatus();
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
                 SafeLabel(recipient.name()) +
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
                                const v1::AgentEntry& recipient) {
  if (call.role != v1::ROLE_COORDINATOR &&
      call.caller.origin != v1::ORIGIN_PERSON) {
    return absl::OkStatus();
  }
  INTERCOM_ASSIGN_OR_RETURN(
      const auto repeated,
      deliveries_.FindStatus(
          DeliveryId(call.caller.session_id, envelope.envelope_id())));
  if (repeated.has_value()) return absl::OkStatus();
  return reports_.SetAnswered(call.workspace->root, recipient.session_id(),
                              clock_.Now());
}

void Mail::Get(CallerEvidence evidence, std::string id, RecordDone done) {
  runner_.PostTask([this, evidence = std::move(evidence), id = std::move(id),
                    done = std::move(done)]() mutable {
    if (auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    absl::StatusOr<v1::DeliveryRecord> record = FindOne(id);
    if (record.ok()) dispatcher_.DescribeWait(*record);
    done(std::move(record));
  });
}

absl::StatusOr<v1::DeliveryRecord> Mail::FindOne(const std::string& id) {
  if (id.size() < kMinPrefix) {
    return Error(absl::StatusCode::kInvalidArgument, "ID_TOO_SHORT",
                 "an id needs at least 6 characters");
  }
  INTERCOM_ASSIGN_OR_RETURN(auto found, deliveries_.FindByIdPrefix(id, 6));
  if (found.empty()) return UnknownEnvelope(id);
  if (found.size() == 1) return std::move(found.front());
  for (v1::DeliveryRecord& record : found) {
    if (record.delivery_id() == id) return std::move(record);
  }
  std::string candidates;
  for (const v1::DeliveryRecord& record : found) {
    candidates += "\n  " + record.delivery_id();
  }
  return Error(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID",
               "several messages have an id that begins so; give more of "
               "it:" +
                   candidates);
}

void Mail::Withdraw(CallerEvidence evidence, std::string envelope_id,
                    RecordDone done) {
  runner_.PostTask([this, evidence = std::move(evidence),
                    envelope_id = std::move(envelope_id),
                    done = std::move(done)]() mutable {
    const auto caller =
        workspaces_.callers().ResolveFor(Operation::kMessageWithdraw, evidence);
    if (!caller.ok()) return done(caller.status());
    if (absl::Status valid = CheckEnvelopeId(envelope_id); !valid.ok()) {
      return done(valid);
    }
    const std::string id = DeliveryId(caller->session_id, envelope_id);
    dispatcher_.Withdraw(
        id, v1::DELIVERY_END_CANCELLED, "withdrawn by its sender",
        [this, id, done = std::move(done)](const absl::Status& status) mutable {
          if (!status.ok()) return done(status);
          runner_.PostTask([this, id, done = std::move(done)]() mutable {
            auto record = deliveries_.Find(id);
            if (!record.ok()) return done(record.status());
            if (!record->has_value()) return done(UnknownEnvelope(id));
            done(**std::move(record));
          });
        });
  });
}

void Mail::List(CallerEvidence evidence, v1::ListMessagesRequest request,
                ListDone done) {
  if (request.page_size() < 0 || request.page_size() > kMaxPage) {
    return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_SIZE",
                      "page_size is 1 to 200"));
  }
  HistoryFilter filter;
  filter.session_id = request.session_id();
  filter.limit = request.page_size() == 0 ? kDefaultPage : request.page_size();
  if (const std::string& token = request.page_token(); !token.empty()) {
    const char* end = token.data() + token.size();
    const auto [at, error] =
        std::from_chars(token.data(), end, filter.before_sequence);
    if (error != std::errc() || at != end || filter.before_sequence < 1) {
      return done(Error(absl::StatusCode::kInvalidArgument, "PAGE_TOKEN",
                        "page_token is not from an earlier answer"));
    }
  }
  runner_.PostTask([this, evidence = std::move(evidence),
                    directory = request.directory(), filter = std::move(filter),
                    done = std::move(done)]() mutable {
    if (auto caller =
            workspaces_.callers().ResolveFor(Operation::kMessageRead, evidence);
        !caller.ok()) {
      return done(caller.status());
    }
    if (directory.empty()) return ListIn(std::move(filter), std::move(done));
    workspaces_.FindRoot(directory,
                         [this, filter = std::move(filter),
                          done = std::move(done)](auto root) mutable {
                           if (!root.ok()) return done(root.status());
                           if (root->empty())
                             return done(v1::ListMessagesResponse());
                           filter.workspace_root = *root;
                           ListIn(std::move(filter), std::move(done));
                         });
  });
}

void Mail::ListIn(HistoryFilter filter, ListDone done) {
  auto shared_done = std::make_shared<ListDone>(std::move(done));
  const absl::Status posted = reader_.Post(
      [this, filter = std::move(filter), shared_done](Database& database) {
        auto page = DeliveryHistory(database).List(filter);
        // Why something waits is known on the state's thread only.
        runner_.PostTask([this, page = std::move(page), shared_done]() mutable {
          if (!page.ok()) return (*shared_done)(page.status());
          v1::ListMessagesResponse response;
          for (v1::DeliveryRecord& record : page->records) {
            dispatcher_.DescribeWait(record);
            *response.add_records() = std::move(record);
          }
          if (page->more) {
            response.set_next_page_token(std::to_string(
                response.records(response.records_size() - 1).sequence()));
          }
          (*shared_done)(std::move(response));
        });
      });
  if (!posted.ok()) (*shared_done)(posted);
}

}  // namespace intercom
