#include "worker-agent/peer_calls.h"

#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "worker-agent/directory.h"
#include "worker-agent/tools/record_text.h"
#include "worker-agent/tools/run_text.h"

namespace intercom {
namespace {

// An ask as it was accepted, or as it may have been.
SentAsk AskOf(const v1::Submit& submit, const v1::DeliveryRecord& record) {
  const v1::Envelope& envelope = submit.envelope();
  SentAsk ask;
  ask.message_id = envelope.envelope_id();
  ask.delivery_id = record.delivery_id();
  ask.recipient = RecipientName(record);
  if (ask.recipient.empty()) {
    ask.recipient = submit.to().empty() ? submit.cwd() : submit.to();
  }
  ask.reply_within = FromProtoDuration(envelope.reply_within());
  ask.state = record.state();
  ask.wait_reason = record.wait_reason();
  return ask;
}

// The broker may have it, and can be asked.
bool MayBeAccepted(const absl::Status& status) {
  return status.code() == absl::StatusCode::kDeadlineExceeded &&
         ReasonOf(status) == "OUTCOME_UNKNOWN";
}

// Nobody whom the message is for is in its directory.
bool IsNotThere(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "NOBODY_THERE" || reason == "NOT_IN_DIRECTORY" ||
         reason == "UNKNOWN_RECIPIENT";
}

// Who was named by an id may go on as another session.
bool CanBeElsewhere(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "RECIPIENT_AWAY" || reason == "UNKNOWN_RECIPIENT";
}

ToolResult Refused(const absl::Status& status, const v1::Envelope& envelope) {
  ToolResult result = RenderError(status);
  result.details = {{"messageId", envelope.envelope_id()}};
  return result;
}

}  // namespace

PeerCalls::PeerCalls(BrokerLink& link, Setting setting, AskCalls::Answer answer)
    : link_(link),
      setting_(std::move(setting)),
      answer_(std::move(answer)),
      questions_(link, setting_.clock, answer_),
      asks_(setting_.pace, link, setting_.runner, setting_.clock, answer_,
            setting_.progress) {}

struct PeerCalls::Row {
  const char* action;
  Action act;
};

void PeerCalls::Intercom(const Json& arguments, const Call& call) {
  static constexpr Row kTable[] = {
      {"list", &PeerCalls::List},     {"list-cwd", &PeerCalls::List},
      {"send", &PeerCalls::Send},     {"ask", &PeerCalls::Send},
      {"reply", &PeerCalls::Send},    {"pending", &PeerCalls::Pending},
      {"status", &PeerCalls::Status}, {"cancel", &PeerCalls::Withdraw},
      {"steer", &PeerCalls::Steer},
  };
  const std::string action = StringOr(arguments, "action", "");
  for (const Row& row : kTable) {
    if (action == row.action) return (this->*row.act)(arguments, call);
  }
  answer_(call.call_id,
          RenderError(Error(absl::StatusCode::kInternal, "NO_CALL",
                            "the action has no call")));
}

void PeerCalls::Steer(const Json& arguments, const Call& call) {
  Sending sending;
  sending.call = call;
  sending.submit = SteerSubmitOf(arguments, call.call_id);
  sending.steered_run = sending.submit.to_run();
  Begin(std::move(sending));
}

void PeerCalls::Send(const Json& arguments, const Call& call) {
  absl::StatusOr<std::string> directory = std::string();
  if (const auto path = StringField(arguments, "cwd"); path.has_value()) {
    directory = CanonicalDirectory(*path, host_.cwd, host_.home);
  }
  if (!directory.ok()) {
    return answer_(call.call_id, RenderError(directory.status()));
  }
  Sending sending;
  sending.call = call;
  sending.submit = PeerSubmitOf(arguments, call.call_id, call.trigger,
                                *directory, host_.ask_time);
  if (BoolOr(arguments, "openProjectPaneIfMissing", false)) {
    sending.pane = PaneRequest{.call_id = call.call_id,
                               .directory = *directory,
                               .focus = BoolOr(arguments, "focus", true),
                               .launcher = StringOr(arguments, "launcher", ""),
                               .repeated = call.repeated};
  }
  Begin(std::move(sending));
}

void PeerCalls::Status(const Json& arguments, const Call& call) {
  if (const auto id = StringField(arguments, "messageId"); id.has_value()) {
    return questions_.MessageStatus(*id, call.call_id);
  }
  OwnSession own = setting_.own();
  own.open_asks = asks_.count();
  questions_.OwnStatus(own, call.call_id);
}

void PeerCalls::Begin(Sending sending) {
  const std::string call_id = sending.call.call_id;
  sending_[call_id] = std::move(sending);
  Submit(call_id);
}

void PeerCalls::Submit(const std::string& call_id) {
  const Sending& sending = sending_[call_id];
  link_.Submit(sending.submit, sending.call.repeated,
               [this, call_id](const absl::StatusOr<v1::DeliveryRecord>& r) {
                 HandleSubmitted(call_id, r);
               });
}

void PeerCalls::HandleSubmitted(
    const std::string& call_id,
    const absl::StatusOr<v1::DeliveryRecord>& record) {
  const auto found = sending_.find(call_id);
  if (found == sending_.end()) return;
  if (IsNotThere(record.status()) && found->second.pane.has_value()) {
    return OpenPaneFor(call_id);
  }
  if (const std::string name = std::exchange(found->second.otherwise_to, "");
      !name.empty() && CanBeElsewhere(record.status())) {
    found->second.submit.set_to(name);
    return Submit(call_id);
  }
  const Sending sending = std::move(found->second);
  sending_.erase(found);
  Conclude(sending, record);
}

void PeerCalls::OpenPaneFor(const std::string& call_id) {
  Sending& sending = sending_[call_id];
  sending.is_opening = true;
  // Once is enough: the session that opens is there.
  const PaneRequest request = *std::exchange(sending.pane, std::nullopt);
  setting_.open_pane(request,
                     [this, call_id](const absl::StatusOr<OpenedPane>& opened) {
                       const auto found = sending_.find(call_id);
                       if (found == sending_.end() || !found->second.is_opening)
                         return;
                       if (!opened.ok()) {
                         const Sending sending = std::move(found->second);
                         sending_.erase(found);
                         return Conclude(sending, opened.status());
                       }
                       found->second.is_opening = false;
                       found->second.preface = opened->detail + "\n";
                       found->second.submit.set_to(opened->session_id);
                       Submit(call_id);
                     });
}

void PeerCalls::Conclude(const Sending& sending,
                         const absl::StatusOr<v1::DeliveryRecord>& record) {
  const std::string& call_id = sending.call.call_id;
  const v1::Envelope& envelope = sending.submit.envelope();
  const bool is_ask = envelope.kind() == v1::ENVELOPE_KIND_ASK;
  const auto with_preface = [preface = sending.preface, amend = sending.amend](
                                const v1::Envelope& reply, ToolResult& result) {
    result.text = preface + result.text;
    if (amend) amend(reply, result);
  };
  if (is_ask && (record.ok() || MayBeAccepted(record.status()))) {
    return asks_.Wait(
        call_id,
        AskOf(sending.submit, record.ok() ? *record : v1::DeliveryRecord()),
        with_preface);
  }
  ToolResult result;
  if (record.ok() && !sending.steered_run.empty()) {
    result = RenderSteered(*record, sending.steered_run);
  } else if (record.ok()) {
    result = RenderSent(*record, envelope.kind() == v1::ENVELOPE_KIND_REPLY ||
                                     !envelope.reply_to().empty());
  } else {
    result = Refused(record.status(), envelope);
  }
  result.text = sending.preface + result.text;
  answer_(call_id, result);
}

bool PeerCalls::Cancel(const std::string& call_id) {
  if (const auto result = asks_.Cancel(call_id); result.has_value()) {
    answer_(call_id, *result);
    return true;
  }
  const auto found = sending_.find(call_id);
  if (found == sending_.end()) return false;
  if (found->second.is_opening) {
    const v1::Envelope envelope = found->second.submit.envelope();
    sending_.erase(found);
    answer_(call_id,
            Refused(Error(absl::StatusCode::kCancelled, "NOT_SENT",
                          "cancelled while a session was being opened; nothing "
                          "was sent, but the session may still come up"),
                    envelope));
    return true;
  }
  // Its answer says whether it may have been sent.
  link_.CancelSubmit(found->second.submit.envelope().envelope_id());
  return true;
}

}  // namespace intercom
