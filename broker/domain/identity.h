#ifndef PI_INTERCOM_BROKER_DOMAIN_IDENTITY_H_
#define PI_INTERCOM_BROKER_DOMAIN_IDENTITY_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// Longest session id in bytes.
inline constexpr size_t kMaxSessionIdBytes = 256;

// INVALID_ARGUMENT (SESSION_ID_INVALID) unless `id` is 1 to 256 bytes of UTF-8
// without control characters, blanks at its ends, or '/'.
absl::Status CheckSessionId(std::string_view id);

// INVALID_ARGUMENT (STABLE_ID_INVALID) unless `id` is 1 to 64 letters, digits,
// dots, hyphens and underscores.
absl::Status CheckStableId(std::string_view id);

// `<sender session id>/<envelope id>`: what an envelope is known by.
std::string DeliveryId(std::string_view sender_session_id,
                       std::string_view envelope_id);

// The two parts of a delivery id, or nullopt if it is none.
struct DeliveryIdParts {
  std::string sender_session_id;
  std::string envelope_id;
};
std::optional<DeliveryIdParts> ParseDeliveryId(std::string_view delivery_id);

// Who makes a call. `sender` is attested: nothing in it was read from the
// client's own words.
struct Caller {
  v1::Origin origin = v1::ORIGIN_UNSPECIFIED;
  // The id under which it sends: the session's, `person:<uid>`, ...
  std::string session_id;
  // The attached session behind a session or shell caller; empty otherwise.
  std::string host_session_id;
  // The attachment's epoch for session callers, else 0.
  int64_t epoch = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_IDENTITY_H_
