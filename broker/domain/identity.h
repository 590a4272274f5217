#ifndef PI_INTERCOM_BROKER_DOMAIN_IDENTITY_H_
#define PI_INTERCOM_BROKER_DOMAIN_IDENTITY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// Longest session id in bytes.
inline constexpr size_t kMaxSessionIdBytes = 256;

// INVALID_ARGUMENT (SESSION_ID_INVALID) unless `id` is 1 to 256 bytes of UTF-8
// without control characters, blanks at its ends, or '/', and none under which
// somebody else sends: a person, a client or the broker.
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

// The session id of the broker's own notices.
inline constexpr std::string_view kBrokerSessionId = "broker";

// The person of the account: the id under which they send and have a mailbox,
// and what that mailbox is called.
std::string PersonSessionId(int64_t uid);
bool IsPersonSessionId(std::string_view session_id);
inline constexpr std::string_view kPersonName = "person";

// The broker as a sender.
v1::Sender BrokerSender();

// Whether mail to this sender reaches a session: not that to a person, who has
// a mailbox, or to a client, who has only what a call of its own waits for. An
// unknown origin is a session's.
bool IsOfSession(const v1::Sender& sender);

// Whether somebody says what becomes of what is sent to this sender, once a
// call has it: a session's agent, or the command that shows it to a person.
// What a command of a shell or a client waited for is that one's, and no more
// is heard of it.
bool IsToldOf(const v1::Sender& sender);

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
