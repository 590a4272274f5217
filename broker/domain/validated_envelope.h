#ifndef PI_INTERCOM_BROKER_DOMAIN_VALIDATED_ENVELOPE_H_
#define PI_INTERCOM_BROKER_DOMAIN_VALIDATED_ENVELOPE_H_

#include <string>
#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

inline constexpr int kMaxTextCharacters = 48'000;
inline constexpr size_t kMaxEnvelopeBytes = 256 * 1024;
inline constexpr int kMaxAttachments = 16;
inline constexpr int kMaxAttachmentNameCharacters = 255;
// How long an ask waits for its reply.
inline constexpr absl::Duration kUsualReplyTime = absl::Minutes(10);
inline constexpr absl::Duration kLeastReplyTime = absl::Seconds(1);
inline constexpr absl::Duration kMostReplyTime = absl::Hours(24);

// An envelope that keeps every rule of envelope.proto: the proof travels in the
// type.
class ValidatedEnvelope {
 public:
  // INVALID_ARGUMENT with reason ENVELOPE_INVALID, TEXT_EMPTY, TEXT_TOO_LONG,
  // TEXT_NOT_UTF8, ATTACHMENT_INVALID or REPLY_TIME_INVALID; the message names
  // the field and the limit. An ask gets the usual reply time where it has
  // none. Clients may send
  // messages, asks and replies only: notices and reports are the broker's.
  static absl::StatusOr<ValidatedEnvelope> FromClient(v1::Envelope envelope);

  // The same for envelopes that the broker itself composes.
  static absl::StatusOr<ValidatedEnvelope> FromBroker(v1::Envelope envelope);

  // The same as the answer to the delivery `delivery_id`: of the kind REPLY
  // where that is an ask.
  ValidatedEnvelope AsAnswerTo(std::string delivery_id, bool is_ask) const;

  const v1::Envelope& value() const { return envelope_; }

 private:
  explicit ValidatedEnvelope(v1::Envelope envelope)
      : envelope_(std::move(envelope)) {}

  v1::Envelope envelope_;
};

// INVALID_ARGUMENT (ENVELOPE_INVALID) unless `id` has 1 to 64 letters, digits
// and hyphens.
absl::Status CheckEnvelopeId(std::string_view id);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_VALIDATED_ENVELOPE_H_
