#include "worker-agent/cli/mail_report.h"

#include <algorithm>
#include <string_view>

#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "worker-agent/tools/delivery_text.h"
#include "worker-agent/tools/labels.h"

namespace intercom {
namespace {

// `text` without controls, each line behind two spaces; ended by LF.
std::string Indented(const std::string& text) {
  const std::string plain = StripControls(text);
  std::string indented;
  for (size_t at = 0; at <= plain.size();) {
    const size_t end = std::min(plain.find('\n', at), plain.size());
    const std::string_view line = std::string_view(plain).substr(at, end - at);
    if (!line.empty()) indented += "  " + std::string(line);
    indented += "\n";
    at = end + 1;
  }
  return indented;
}

std::string AttachmentTitle(const v1::MessageAttachment& attachment) {
  return "[" + std::string(AttachmentTypeLabel(attachment.type())) + " " +
         SafeLabel(attachment.name(), 255) + "]";
}

// "answers your ask 3f2c9a10"; empty for what answers nothing.
std::string Answers(const v1::Envelope& envelope) {
  const auto answered = ParseDeliveryId(envelope.reply_to());
  if (!answered.has_value()) return "";
  return std::string(envelope.kind() == v1::ENVELOPE_KIND_REPLY
                         ? ", answers your question "
                         : ", answers your message ") +
         MessageIdLabel(answered->envelope_id);
}

std::string Entry(const v1::DeliveryRecord& record, const Terminal& terminal) {
  const v1::Envelope& envelope = record.envelope();
  std::string text =
      terminal.Bold(MessageIdLabel(envelope.envelope_id())) + " " +
      (record.marks().empty() ? "" : DateAndTime(record.marks(0).at()) + " ") +
      std::string(KindLabel(envelope.kind())) + " from " +
      SenderLabel(record.sender()) + Answers(envelope) +
      (IsUnread(record) ? "" : terminal.Dim(", read")) + "\n" +
      Indented(envelope.text());
  for (const v1::MessageAttachment& attachment : envelope.attachments()) {
    text += "  " + AttachmentTitle(attachment) + "\n" +
            Indented(attachment.content());
  }
  return text + "\n";
}

}  // namespace

bool IsUnread(const v1::DeliveryRecord& record) {
  return record.state() < v1::DELIVERY_STATE_INJECTED &&
         record.end() == v1::DELIVERY_END_UNSPECIFIED;
}

std::string AnswerText(const v1::DeliveryRecord& reply) {
  const auto lines = [](const std::string& text) {
    std::string plain = StripControls(text);
    if (!plain.ends_with('\n')) plain += "\n";
    return plain;
  };
  std::string text = lines(reply.envelope().text());
  for (const v1::MessageAttachment& one : reply.envelope().attachments()) {
    text += "\n" + AttachmentTitle(one) + "\n" + lines(one.content());
  }
  return text;
}

std::string InboxReport(const v1::ListInboxResponse& response, bool peeked,
                        const Terminal& terminal) {
  std::string text;
  for (const v1::DeliveryRecord& record : response.records()) {
    text += Entry(record, terminal);
  }
  if (response.records().empty()) text = "No unread mail.\n";
  if (response.left_out() > 0) {
    text += std::to_string(response.left_out()) + " more unread" +
            (peeked ? "" : "; intercom inbox shows them next") + ".\n";
  }
  // The broker tells, and takes no answer.
  if (std::any_of(response.records().begin(), response.records().end(),
                  [](const v1::DeliveryRecord& record) {
                    return record.sender().origin() != v1::ORIGIN_BROKER;
                  })) {
    text += "To answer: intercom reply ID TEXT\n";
  }
  return text;
}

}  // namespace intercom
