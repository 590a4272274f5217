#include "broker/domain/validated_envelope.h"

#include <algorithm>
#include <optional>
#include <string>

#include "absl/strings/ascii.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr size_t kMaxEnvelopeIdBytes = 64;
constexpr size_t kMaxTopicBytes = 64;
constexpr size_t kMaxReferenceBytes = 330;

absl::Status Invalid(std::string_view reason, const std::string& message) {
  return Error(absl::StatusCode::kInvalidArgument, reason, message);
}

absl::Status Check(const v1::Envelope& envelope) {
  INTERCOM_RETURN_IF_ERROR(CheckEnvelopeId(envelope.envelope_id()));
  if (!envelope.supersedes().empty()) {
    INTERCOM_RETURN_IF_ERROR(CheckEnvelopeId(envelope.supersedes()));
    if (envelope.supersedes() == envelope.envelope_id()) {
      return Invalid("ENVELOPE_INVALID", "an envelope can't supersede itself");
    }
  }
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
  if (envelope.ByteSizeLong() > kMaxEnvelopeBytes) {
    return Invalid("TEXT_TOO_LONG", "the envelope has more than 256 KiB");
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
  return ValidatedEnvelope(std::move(envelope));
}

absl::StatusOr<ValidatedEnvelope> ValidatedEnvelope::FromBroker(
    v1::Envelope envelope) {
  INTERCOM_RETURN_IF_ERROR(Check(envelope));
  return ValidatedEnvelope(std::move(envelope));
}

}  // namespace intercom
