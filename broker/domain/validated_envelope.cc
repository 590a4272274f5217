#include "broker/domain/validated_envelope.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxEnvelopeIdBytes = 64;
constexpr size_t kMaxTopicBytes = 64;
constexpr size_t kMaxReferenceBytes = 330;
constexpr size_t kMaxLanguageCharacters = 64;

absl::Status Invalid(std::string_view reason, const std::string& message) {
  return Error(absl::StatusCode::kInvalidArgument, reason, message);
}

// One line of `min` to `max` characters, without controls.
bool IsLine(const std::string& text, size_t min, size_t max) {
  const std::optional<size_t> characters = CountCharacters(text);
  return characters.has_value() && *characters >= min && *characters <= max &&
         text.find('\n') == std::string::npos && StripControls(text) == text;
}

absl::Status CheckAttachments(const v1::Envelope& envelope) {
  if (envelope.attachments_size() > kMaxAttachments) {
    return Invalid("ATTACHMENT_INVALID",
                   "there are " + std::to_string(envelope.attachments_size()) +
                       " attachments, the limit is " +
                       std::to_string(kMaxAttachments));
  }
  for (int i = 0; i < envelope.attachments_size(); ++i) {
    const v1::MessageAttachment& attachment = envelope.attachments(i);
    const std::string which = "attachment " + std::to_string(i + 1);
    if (attachment.type() < v1::MessageAttachment::TYPE_FILE ||
        attachment.type() > v1::MessageAttachment::TYPE_CONTEXT) {
      return Invalid("ATTACHMENT_INVALID",
                     which + " is none of file, snippet and context");
    }
    if (!IsLine(attachment.name(), 1, kMaxAttachmentNameCharacters)) {
      return Invalid("ATTACHMENT_INVALID",
                     which + " needs a name: one line of 1 to " +
                         std::to_string(kMaxAttachmentNameCharacters) +
                         " characters");
    }
    if (!IsLine(attachment.language(), 0, kMaxLanguageCharacters)) {
      return Invalid(
          "ATTACHMENT_INVALID",
          "the language of " + which + " is no line of at most 64 characters");
    }
    if (!CountCharacters(attachment.content()).has_value()) {
      return Invalid("ATTACHMENT_INVALID",
                     "the content of " + which + " is not UTF-8");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckReplyTime(const v1::Envelope& envelope) {
  if (!envelope.has_reply_within()) return absl::OkStatus();
  if (envelope.kind() != v1::ENVELOPE_KIND_ASK) {
    return Invalid("REPLY_TIME_INVALID", "only an ask has reply_within");
  }
  const absl::Duration within = FromProtoDuration(envelope.reply_within());
  if (within >= kLeastReplyTime && within <= kMostReplyTime) {
    return absl::OkStatus();
  }
  return Invalid("REPLY_TIME_INVALID",
                 "an ask waits 1 second to 24 hours for its reply");
}

absl::Status Check(const v1::Envelope& envelope) {
  INTERCOM_RETURN_IF_ERROR(CheckEnvelopeId(envelope.envelope_id()));
  if (!envelope.supersedes().empty()) {
    INTERCOM_RETURN_IF_ERROR(CheckEnvelopeId(envelope.supersedes()));
    if (envelope.supersedes() == envelope.envelope_id()) {
      return Invalid("ENVELOPE_INVALID", "an envelope can't supersede itself");
    }
  }
  if (!envelope.retry_of().empty()) {
    INTERCOM_RETURN_IF_ERROR(CheckEnvelopeId(envelope.retry_of()));
  }
  INTERCOM_RETURN_IF_ERROR(CheckReplyTime(envelope));
  if (envelope.reply_to().size() > kMaxReferenceBytes) {
    return Invalid("ENVELOPE_INVALID", "reply_to is no delivery id");
  }
  if (envelope.topic().size() > kMaxTopicBytes) {
    return Invalid("ENVELOPE_INVALID", "topic has more than 64 characters");
  }
  if (envelope.text().empty()) {
    return Invalid("TEXT_EMPTY", "the text is empty; write what to say");
  }
  const std::optional<size_t> characters = CountCharacters(envelope.text());
  if (!characters.has_value()) {
    return Invalid("TEXT_NOT_UTF8", "the text is not UTF-8");
  }
  if (*characters > kMaxTextCharacters) {
    return Invalid("TEXT_TOO_LONG",
                   "the text has " + std::to_string(*characters) +
                       " characters, the limit is " +
                       std::to_string(kMaxTextCharacters) +
                       "; put the rest into a file and name its path");
  }
  INTERCOM_RETURN_IF_ERROR(CheckAttachments(envelope));
  if (envelope.ByteSizeLong() > kMaxEnvelopeBytes) {
    return Invalid("TEXT_TOO_LONG",
                   "the message with its attachments has more than 256 KiB; "
                   "put the rest into a file and name its path");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckEnvelopeId(std::string_view id) {
  const auto allowed = [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-';
  };
  if (!id.empty() && id.size() <= kMaxEnvelopeIdBytes &&
      std::all_of(id.begin(), id.end(), allowed)) {
    return absl::OkStatus();
  }
  return Invalid("ENVELOPE_INVALID",
                 "an envelope id has 1 to 64 letters, digits and hyphens");
}

absl::StatusOr<ValidatedEnvelope> ValidatedEnvelope::FromClient(
    v1::Envelope envelope) {
  switch (envelope.kind()) {
    case v1::ENVELOPE_KIND_MESSAGE:
    case v1::ENVELOPE_KIND_ASK:
    case v1::ENVELOPE_KIND_REPLY:
      break;
    default:
      return Invalid("ENVELOPE_INVALID",
                     "a client sends kinds MESSAGE, ASK and REPLY");
  }
  if (!envelope.topic().empty()) {
    return Invalid("ENVELOPE_INVALID", "topic is for the broker's notices");
  }
  INTERCOM_RETURN_IF_ERROR(Check(envelope));
  if (envelope.kind() == v1::ENVELOPE_KIND_ASK &&
      !envelope.has_reply_within()) {
    *envelope.mutable_reply_within() = ToProtoDuration(kUsualReplyTime);
  }
  return ValidatedEnvelope(std::move(envelope));
}

ValidatedEnvelope ValidatedEnvelope::AsAnswerTo(std::string delivery_id,
                                                bool is_ask) const {
  v1::Envelope answer = envelope_;
  answer.set_reply_to(std::move(delivery_id));
  answer.set_kind(is_ask ? v1::ENVELOPE_KIND_REPLY : v1::ENVELOPE_KIND_MESSAGE);
  return ValidatedEnvelope(std::move(answer));
}

absl::StatusOr<ValidatedEnvelope> ValidatedEnvelope::FromBroker(
    v1::Envelope envelope) {
  INTERCOM_RETURN_IF_ERROR(Check(envelope));
  return ValidatedEnvelope(std::move(envelope));
}

}  // namespace intercom
