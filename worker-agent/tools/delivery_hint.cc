#include "worker-agent/tools/delivery_hint.h"

#include "broker/base/proto_time.h"
#include "broker/domain/fence.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

// Topics of notices that ask for something.
constexpr char kRegistration[] = "REGISTRATION";
constexpr char kHandoffRequest[] = "HANDOFF_REQUEST";
constexpr char kLaunch[] = "LAUNCH";
constexpr char kStop[] = "STOP";
constexpr char kClose[] = "CLOSE";
constexpr char kCancellationRequest[] = "CANCELLATION_REQUEST";
constexpr char kStableId[] = "STABLE_ID";

// What to give as `to`: the name, unless it is shown otherwise than it is.
std::string AddressOf(const v1::Sender& sender) {
  return IsNameLabel(sender.name()) ? sender.name()
                                    : IdLabel(sender.session_id());
}

std::string NoticeHint(const std::string& topic) {
  if (topic == kRegistration) {
    return "If you created it, or it is to be a worker, configure it with "
           "intercom_configure_worker, then intercom_reload_worker; otherwise "
           "ignore this.";
  }
  if (topic == kHandoffRequest) {
    return "This session is being closed in good order. Call "
           "intercom_report_handoff once, with the job id that the quoted "
           "lines name, then end your turn without another tool or message, "
           "and wait.";
  }
  if (topic == kLaunch) {
    return "Launch again if the worker is still needed; if it comes to nothing "
           "once more, tell the person.";
  }
  if (topic == kStop) {
    return "The worker's session is kept. If it stands still, send it what to "
           "do next, if anything; if it was not stopped, tell the person.";
  }
  if (topic == kClose) {
    return "A closed worker can be opened again with intercom_resume_worker. "
           "If the outcome is uncertain, tell the person, who alone can end "
           "the job (intercom job resolve); do not resume or remove it before.";
  }
  if (topic == kCancellationRequest) {
    return "The sender takes that message back: don't begin what it asks for. "
           "What is done already stays; tell the sender if that matters.";
  }
  if (topic == kStableId) {
    return "The pinned address stays this session's. Tell the person, who set "
           "it for two sessions.";
  }
  return "A fact from the broker; it needs no answer.";
}

std::string ReportHint(const v1::Delivery& delivery) {
  const std::string& topic = delivery.envelope().topic();
  const std::string answer =
      "intercom_send with to \"" + AddressOf(delivery.sender()) + "\"";
  if (topic == "CLEAR") return "It needs no answer.";
  if (topic == "READY_FOR_REVIEW") {
    return "It waits for a review and approves nothing by itself. To answer: " +
           answer + ".";
  }
  return "It waits for an answer: " + answer +
         ", or ask the person if the decision is not yours. The quoted lines "
         "are that agent's words, not a person's.";
}

// How to answer a session, or one of its programs.
std::string AnswerHint(const v1::Delivery& delivery, const Reader& reader) {
  const v1::Sender& sender = delivery.sender();
  // The turn may have been started by somebody else's.
  const std::string reply = "intercom, action reply, replyTo \"" +
                            MessageIdLabel(delivery.envelope().envelope_id()) +
                            "\"";
  if (delivery.envelope().kind() == v1::ENVELOPE_KIND_ASK) {
    const absl::Time until =
        ToTime(delivery.accepted_at()) +
        FromProtoDuration(delivery.envelope().reply_within());
    return "It waits for your answer until " + TimeOfDay(ToProto(until)) +
           ". To answer: " + reply + ". Don't ask it back.";
  }
  if (IsInReadersWorkspace(sender, reader)) {
    return "To answer: intercom_send with to \"" + AddressOf(sender) + "\".";
  }
  return "To answer: " + reply + ".";
}

// What the worker of a run must know, whatever its person wants to read.
std::string RunHint(const v1::Delivery& delivery) {
  return "End this work with one text that has the whole result: it becomes "
         "the result of " +
         IdLabel(delivery.run_id(), 40) +
         ", so don't send it too. To reach who handed it over: "
         "contact_supervisor, with need_decision where you can't go on. The "
         "quoted lines are that session's words, not your person's.";
}

// What a message, an ask or a reply wants of its reader.
std::string TalkHint(const v1::Delivery& delivery, const Reader& reader) {
  if (delivery.envelope().kind() == v1::ENVELOPE_KIND_REPLY) {
    return "It needs no answer. The quoted lines are that session's words, "
           "not your person's.";
  }
  switch (delivery.sender().origin()) {
    case v1::ORIGIN_SESSION:
      return AnswerHint(delivery, reader) +
             " The quoted lines are that session's words, not your person's.";
    case v1::ORIGIN_SHELL:
      return "A program started by that session sent this, not a person. " +
             AnswerHint(delivery, reader);
    case v1::ORIGIN_PERSON:
      return "A person typed it at a terminal outside this session, where an "
             "answer reaches them. " +
             AnswerHint(delivery, reader);
    default:
      return "It can't be answered with a tool.";
  }
}

}  // namespace

bool IsInReadersWorkspace(const v1::Sender& sender, const Reader& reader) {
  const auto is_configured = [](v1::Role role) {
    return role == v1::ROLE_COORDINATOR || role == v1::ROLE_WORKER;
  };
  return is_configured(sender.role()) && is_configured(reader.role) &&
         sender.workspace_root() == reader.workspace_root;
}

std::string DeliveryHint(const v1::Delivery& delivery, const Reader& reader) {
  switch (delivery.envelope().kind()) {
    case v1::ENVELOPE_KIND_NOTICE:
      return NoticeHint(delivery.envelope().topic());
    case v1::ENVELOPE_KIND_REPORT:
      return ReportHint(delivery);
    default:
      if (!delivery.run_id().empty()) return RunHint(delivery);
      return reader.reply_hint ? TalkHint(delivery, reader) : "";
  }
}

}  // namespace intercom
