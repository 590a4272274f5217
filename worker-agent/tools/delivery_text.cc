#include "worker-agent/tools/delivery_text.h"

#include <string_view>

#include "absl/time/time.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/permissions.h"
#include "worker-agent/tools/attachment_text.h"
#include "worker-agent/tools/delivery_hint.h"
#include "worker-agent/tools/labels.h"
#include "worker-agent/tools/session_list.h"

namespace intercom {
namespace {

constexpr size_t kSummaryCharacters = 160;

// `before`, who it is, and `after`, within the bound of an attribution.
std::string Around(std::string_view before, const v1::Sender& sender,
                   std::string after) {
  const size_t room = kMaxAttributionCharacters - before.size() - after.size();
  const std::string who = NameOr(sender.name(), sender.session_id());
  return std::string(before) + SafeLabel(who, room) + after;
}

std::string RoleLabel(const v1::Sender& sender) {
  if (sender.role() == v1::ROLE_UNSPECIFIED) return "";
  return " (" + std::string(RoleName(sender.role())) + ")";
}

std::string SessionLabel(const v1::Sender& sender) {
  return Around("", sender, RoleLabel(sender));
}

// "STATUS_REPORT" as "status report".
std::string TopicLabel(std::string_view topic) {
  std::string label = NameLabel(topic, 64);
  for (char& c : label) {
    if (c == '_') c = ' ';
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return label;
}

// "your ask 3f2c9a10", named by `delivery_id`.
std::string AnsweredLabel(std::string_view what,
                          const std::string& delivery_id) {
  const auto parts = ParseDeliveryId(delivery_id);
  return "your " + std::string(what) + " " +
         MessageIdLabel(parts.has_value() ? parts->envelope_id : delivery_id);
}

// What it answers, in a line of its own; empty for none.
std::string ThreadLine(const v1::Envelope& envelope) {
  if (envelope.reply_to().empty()) return "";
  if (envelope.kind() == v1::ENVELOPE_KIND_REPLY) {
    return "It answers " + AnsweredLabel("ask", envelope.reply_to()) +
           ", for which nobody waits any more.\n";
  }
  return "It answers " + AnsweredLabel("message", envelope.reply_to()) + ".\n";
}

// That it opened a run; empty for what did not.
std::string RunLine(const v1::Delivery& delivery) {
  if (delivery.run_id().empty()) return "";
  return "It hands " + IdLabel(delivery.run_id(), 40) +
         " to you: a piece of work that its sender follows, and whose result "
         "is the last text that you write for it.\n";
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
      return Around("a shell of ", sender,
                    RoleLabel(sender) + ", not a person");
    case v1::ORIGIN_PERSON:
      return "a person at a terminal (" + IdLabel(sender.session_id(), 32) +
             ")";
    case v1::ORIGIN_BROKER:
      return "the broker";
    case v1::ORIGIN_CLIENT:
      return "a program that holds the account's token (" +
             IdLabel(sender.session_id(), 32) + "), not a person";
    default:
      return "an unknown sender";
  }
}

std::string ShortSenderLabel(const v1::Sender& sender) {
  const std::string name = NameOr(sender.name(), sender.session_id());
  switch (sender.origin()) {
    case v1::ORIGIN_SHELL:
      return "shell of " + name;
    case v1::ORIGIN_BROKER:
      return "broker";
    case v1::ORIGIN_PERSON:
      return std::string(kPersonName);
    default:
      return name;
  }
}

std::string DeliveryContent(const v1::Delivery& delivery,
                            const Reader& reader) {
  const v1::Envelope& envelope = delivery.envelope();
  std::string text = "[intercom] ";
  text += KindLabel(envelope.kind());
  if (!envelope.topic().empty()) {
    text += " (" + TopicLabel(envelope.topic()) + ")";
  }
  text += " from " + AuthorLabel(delivery);
  if (!delivery.sender_directory().empty() &&
      !IsInReadersWorkspace(delivery.sender(), reader)) {
    text += " in " + DirectoryLabel(delivery.sender_directory(), reader.home);
  }
  text += " · id " + MessageIdLabel(envelope.envelope_id());
  if (delivery.has_accepted_at()) {
    text += " · " + TimeOfDay(delivery.accepted_at());
  }
  text += "\n" + RunLine(delivery) + ThreadLine(envelope);
  if (delivery.redelivered()) {
    text +=
        "Delivered again after an interruption: it may repeat what you have "
        "read under this id; don't act on it twice.\n";
  }
  text += FenceText(envelope.text()) + "\n" + AttachmentsText(envelope) +
          DeliveryHint(delivery, reader);
  if (text.ends_with('\n')) text.pop_back();
  return text;
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
  std::string line = sender.origin() == v1::ORIGIN_SESSION
                         ? NameOr(sender.name(), sender.session_id())
                         : SenderLabel(sender);
  if (envelope.kind() == v1::ENVELOPE_KIND_ASK) line += " asks";
  if (envelope.kind() == v1::ENVELOPE_KIND_REPLY) line += " replies";
  line += ": " + text;
  if (const int count = envelope.attachments_size(); count > 0) {
    line += " (+" + std::to_string(count) +
            (count == 1 ? " attachment)" : " attachments)");
  }
  return line;
}

Json DeliverParams(const v1::Delivery& delivery, const Reader& reader) {
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
                 {"content", DeliveryContent(delivery, reader)},
                 {"summary", DeliverySummary(delivery)},
                 {"attachments", AttachmentsJson(envelope)}};
  if (!envelope.topic().empty()) params["topic"] = envelope.topic();
  if (!delivery.run_id().empty()) params["runId"] = delivery.run_id();
  if (!envelope.reply_to().empty()) params["replyTo"] = envelope.reply_to();
  if (!delivery.sender_directory().empty()) {
    params["from"]["directory"] = delivery.sender_directory();
  }
  if (const std::string hint = DeliveryHint(delivery, reader); !hint.empty()) {
    params["hint"] = hint;
  }
  return params;
}

}  // namespace intercom
