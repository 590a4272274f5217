#include "worker-agent/link/broker_address.h"

#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace intercom {
namespace {

constexpr size_t kMaxFileBytes = 64 << 10;

absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Error(absl::StatusCode::kNotFound, "BROKER_NOT_RUNNING",
                 "there is no readable " + path +
                     "; start the broker with: intercom broker start");
  }
  std::string text(kMaxFileBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

// gRPC reads a target as a URI: other bytes of a path have to be escaped.
std::string EscapePath(std::string_view path) {
  std::string escaped;
  for (const char c : path) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '/' ||
        c == '.' || c == '-' || c == '_') {
      escaped += c;
    } else {
      absl::StrAppendFormat(&escaped, "%%%02X", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

}  // namespace

BrokerAddress UnixAddress(std::string_view home) {
  return {.target = "unix:" + EscapePath(SocketPath(home)), .bearer_token = ""};
}

absl::StatusOr<BrokerAddress> TcpAddress(std::string_view home) {
  const std::string path = EndpointPath(home);
  INTERCOM_ASSIGN_OR_RETURN(const std::string text, ReadSmallFile(path));
  const auto json = nlohmann::json::parse(text, nullptr, false);
  int port = 0;
  if (json.is_object()) {
    const auto found = json.find("port");
    if (found != json.end() && found->is_number_integer()) {
      port = found->get<int>();
    }
  }
  if (port < 1 || port > 65535) {
    return Error(absl::StatusCode::kDataLoss, "ENDPOINT_INVALID",
                 path +
                     " names no port; restart the broker with: intercom "
                     "broker restart");
  }
  INTERCOM_ASSIGN_OR_RETURN(std::string token, ReadSmallFile(TokenPath(home)));
  absl::StripAsciiWhitespace(&token);
  return BrokerAddress{.target = "ipv4:127.0.0.1:" + std::to_string(port),
                       .bearer_token = std::move(token)};
}

}  // namespace intercom
