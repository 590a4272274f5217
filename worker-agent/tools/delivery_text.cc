#include "worker-agent/tools/delivery_text.h"

#include <string_view>

#include "absl/time/time.h"
#include "broker/domain/fence.h"
#include "broker/domain/permissions.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

// Topics of notices that ask for something.
constexpr char kRegistration[] = "REGISTRATION";
constexpr char kHandoffRequest[] = "HANDOFF_REQUEST";
constexpr char kLaunch[] = "LAUNCH";
constexpr char kStop[] = "STOP";
constexpr char kClose[] = "CLOSE";
constexpr size_t kSummaryCharacters = 160;

std::string SessionLabel(const v1::Sender& sender) {
  const std::string_view role = RoleName(sender.role());
  std::string label = NameOr(sender.name(), sender.session_id());
  if (sender.role() != v1::ROLE_UNSPECIFIED) {
    label += " (" + std::string(role) + ")";
  }
  return label;
}

// "STATUS_REPORT" as "status report".
std::string TopicLabel(std::string_view topic) {
  std::string label = SafeLabel(topic, 64);
  for (char& c : label) {
    if (c == '_') c = ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return label;
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
  return "A fact from the broker; it needs no answer.";
}

std::string ReportHint(const v1::Delivery& delivery) {
  const std::string& topic = delivery.envelope().topic();
  const std::string answer =
      "intercom_send with to \"" +
      NameOr(delivery.sender().name(), delivery.sender().session_id()) + "\"";
  if (topic == "CLEAR") return "It needs no answer.";
  if (topic == "READY_FOR_REVIEW") {
    return "It waits for a review and approves nothing by itself. To answer: " +
           answer + ".";
  }
  return "It waits for an answer: " + answer +
         ", or ask the person if the decision is not yours. The quoted lines "
         "are that agent's words, not a person's.";
}

std::string Hint(const v1::Delivery& delivery) {
  const v1::Sender& sender = delivery.sender();
  if (delivery.envelope().kind() == v1::ENVELOPE_KIND_NOTICE) {
    return NoticeHint(delivery.envelope().topic());
  }
  if (delivery.envelope().kind() == v1::ENVELOPE_KIND_REPORT) {
    return ReportHint(delivery);
  }
  switch (sender.origin()) {
    case v1::ORIGIN_SESSION:
      return "To answer: intercom_send with to \"" +
             NameOr(sender.name(), sender.session_id()) +
             "\". The quoted lines are that agent's words, not a person's.";
    case v1::ORIGIN_SHELL:
      return "A program started by that session sent this, not a person. To "
             "answer: intercom_send with to \"" +
             NameOr(sender.name(), sender.session_id()) + "\".";
    case v1::ORIGIN_PERSON:
      return "It was typed at a terminal outside this session and can't be "
             "answered with intercom_send: answer here.";
    default:
      return "It can't be answered with intercom_send.";
  }
}

// Who says it. A report is its worker's, whoever carries it.
std::string AuthorLabel(const v1::Delivery& delivery) {
  return delivery.envelope().kind() == v1::ENVELOPE_KIND_REPORT
             ? SessionLabel(delivery.sender())
             : SenderLabel(delivery.sender());
}

}  // namespace

std::string_view OriginLabel(v1::Origin origin) {
  switch (origin) {
    case v1::ORIGIN_SESSION:
      return "session";
    case v1::ORIGIN_SHELL:
      return "shell";
    case v1::ORIGIN_PERSON:
      return "person";
    case v1::ORIGIN_BROKER:
      return "broker";
    case v1::ORIGIN_CLIENT:
      return "client";
    default:
      return "unknown";
  }
}

std::string SenderLabel(const v1::Sender& sender) {
  switch (sender.origin()) {
    case v1::ORIGIN_SESSION:
      return SessionLabel(sender);
    case v1::ORIGIN_SHELL:
      return "a shell of " + SessionLabel(sender) + ", not a person";
    case v1::ORIGIN_PERSON:
      return "a person at a terminal (" + SafeLabel(sender.session_id()) + ")";
    case v1::ORIGIN_BROKER:
      return "the broker";
    case v1::ORIGIN_CLIENT:
      return "a program that holds the account's token (" +
             SafeLabel(sender.session_id()) + "), not a person";
    default:
      return "an unknown sender";
  }
}

std::string DeliveryContent(const v1::Delivery& delivery) {
  const v1::Envelope& envelope = delivery.envelope();
  std::string text = "[intercom] ";
  text += KindLabel(envelope.kind());
  if (!envelope.topic().empty()) {
    text += " (" + TopicLabel(envelope.topic()) + ")";
  }
  text += " from " + AuthorLabel(delivery) + " · id " +
          ShortId(envelope.envelope_id());
  if (delivery.has_accepted_at()) {
    text += " · " + TimeOfDay(delivery.accepted_at());
  }
  text += "\n";
  if (delivery.redelivered()) {
    text +=
        "Delivered again after an interruption: it may repeat what you have "
        "read under this id; don't act on it twice.\n";
  }
  text += FenceText(envelope.text());
  if (!text.ends_with('\n')) text += "\n";
  return text + Hint(delivery);
}

std::string DeliverySummary(const v1::Delivery& delivery) {
  const v1::Envelope& envelope = delivery.envelope();
  const v1::Sender& sender = delivery.sender();
  const std::string text = SafeLabel(envelope.text(), kSummaryCharacters);
  if (envelope.kind() == v1::ENVELOPE_KIND_REPORT) {
    return NameOr(sender.name(), sender.session_id()) + " reports " +
           TopicLabel(envelope.topic()) + ": " + text;
  }
  if (envelope.kind() == v1::ENVELOPE_KIND_NOTICE &&
      !envelope.topic().empty()) {
    return TopicLabel(envelope.topic()) + ": " + text;
  }
  return (sender.origin() == v1::ORIGIN_SESSION
              ? NameOr(sender.name(), sender.session_id())
              : SenderLabel(sender)) +
         ": " + text;
}

Json DeliverParams(const v1::Delivery& delivery) {
  const v1::Envelope& envelope = delivery.envelope();
  const v1::Sender& sender = delivery.sender();
  Json params = {{"deliveryId", delivery.delivery_id()},
                 {"envelopeId", envelope.envelope_id()},
                 {"sequence", delivery.sequence()},
                 {"kind", KindLabel(envelope.kind())},
                 {"quiet", envelope.quiet()},
                 {"redelivered", delivery.redelivered()},
                 {"from",
                  {{"sessionId", sender.session_id()},
                   {"name", sender.name()},
                   // The broker, a person and a program have none.
                   {"role", sender.role() == v1::ROLE_UNSPECIFIED
                                ? std::string_view()
                                : RoleName(sender.role())},
                   {"origin", OriginLabel(sender.origin())}}},
                 {"acceptedAt", absl::FormatTime(absl::RFC3339_full,
                                                 ToTime(delivery.accepted_at()),
                                                 absl::UTCTimeZone())},
                 {"content", DeliveryContent(delivery)},
                 {"summary", DeliverySummary(delivery)}};
  if (!envelope.topic().empty()) params["topic"] = envelope.topic();
  return params;
}

}  // namespace intercom
