#include "broker/domain/identity.h"

#include <algorithm>

#include "broker/base/error.h"
#include "broker/domain/fence.h"

namespace intercom {
namespace {

constexpr std::string_view kPersonPrefix = "person:";
constexpr std::string_view kClientPrefix = "client:";

}  // namespace

absl::Status CheckSessionId(std::string_view id) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  };
  const bool valid = !id.empty() && id.size() <= kMaxSessionIdBytes &&
                     CountCharacters(id).has_value() &&
                     std::none_of(id.begin(), id.end(), is_control) &&
                     id.front() != ' ' && id.back() != ' ' &&
                     id.find('/') == std::string_view::npos;
  if (valid && (id == kBrokerSessionId || id.starts_with(kPersonPrefix) ||
                id.starts_with(kClientPrefix))) {
    return Error(absl::StatusCode::kInvalidArgument, "SESSION_ID_INVALID",
                 IdLabel(id) +
                     " is the id of a sender that is no session; choose "
                     "another session id");
  }
  if (valid) return absl::OkStatus();
  return Error(absl::StatusCode::kInvalidArgument, "SESSION_ID_INVALID",
               "a session id has 1 to 256 bytes, no control characters, no "
               "slash and no blank at its ends");
}

absl::Status CheckStableId(std::string_view id) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
  };
  if (!id.empty() && id.size() <= 64 &&
      std::all_of(id.begin(), id.end(), is_plain)) {
    return absl::OkStatus();
  }
  return Error(absl::StatusCode::kInvalidArgument, "STABLE_ID_INVALID",
               "a stable id has 1 to 64 letters, digits, dots, hyphens and "
               "underscores, which " +
                   QuotedLine(id) + " has not; change it and start again");
}

std::string DeliveryId(std::string_view sender_session_id,
                       std::string_view envelope_id) {
  std::string id(sender_session_id);
  id += '/';
  id += envelope_id;
  return id;
}

std::optional<DeliveryIdParts> ParseDeliveryId(std::string_view delivery_id) {
  const size_t slash = delivery_id.find('/');
  if (slash == std::string_view::npos || slash == 0 ||
      slash + 1 == delivery_id.size()) {
    return std::nullopt;
  }
  return DeliveryIdParts{std::string(delivery_id.substr(0, slash)),
                         std::string(delivery_id.substr(slash + 1))};
}

std::string PersonSessionId(int64_t uid) {
  return std::string(kPersonPrefix) + std::to_string(uid);
}

bool IsPersonSessionId(std::string_view session_id) {
  return session_id.starts_with(kPersonPrefix);
}

v1::Sender BrokerSender() {
  v1::Sender sender;
  sender.set_session_id(std::string(kBrokerSessionId));
  sender.set_name("intercom");
  sender.set_origin(v1::ORIGIN_BROKER);
  return sender;
}

bool IsOfSession(const v1::Sender& sender) {
  return sender.origin() != v1::ORIGIN_PERSON &&
         sender.origin() != v1::ORIGIN_CLIENT;
}

bool IsToldOf(const v1::Sender& sender) {
  return sender.origin() != v1::ORIGIN_SHELL &&
         sender.origin() != v1::ORIGIN_CLIENT;
}

}  // namespace intercom
