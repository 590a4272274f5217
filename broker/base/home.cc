#include "broker/base/home.h"

#include <pwd.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

std::string Join(std::string_view home, std::string_view name) {
  return std::string(home) + "/" + std::string(name);
}

}  // namespace

absl::StatusOr<std::string> AccountHome() {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(getuid(), &entry, buffer.data(), buffer.size(), &found) != 0 ||
      found == nullptr || found->pw_dir == nullptr || found->pw_dir[0] != '/') {
    return Error(absl::StatusCode::kFailedPrecondition, "HOME_INVALID",
                 "user " + std::to_string(getuid()) +
                     " has no home directory in the account database; set "
                     "PI_INTERCOM_HOME to a directory on a local disk");
  }
  return std::string(found->pw_dir);
}

absl::StatusOr<std::string> IntercomHome() {
  if (const char* set = std::getenv("PI_INTERCOM_HOME");
      set != nullptr && *set != '\0') {
    std::string home = set;
    if (home.front() != '/') {
      return Error(
          absl::StatusCode::kFailedPrecondition, "HOME_INVALID",
          "PI_INTERCOM_HOME is \"" + home + "\"; it must be an absolute path");
    }
    while (home.size() > 1 && home.back() == '/') home.pop_back();
    return home;
  }
  INTERCOM_ASSIGN_OR_RETURN(const std::string account_home, AccountHome());
  return Join(account_home, ".local/state/pi-intercom");
}

std::string SocketPath(std::string_view home) {
  return Join(home, "broker.sock");
}
std::string TokenPath(std::string_view home) { return Join(home, "token"); }
std::string EndpointPath(std::string_view home) {
  return Join(home, "endpoint.json");
}
std::string DatabasePath(std::string_view home) {
  return Join(home, "state.db");
}
std::string StartLockPath(std::string_view home) {
  return Join(home, "start.lock");
}
std::string BrokerLockPath(std::string_view home) {
  return Join(home, "broker.lock");
}
std::string LogDirectory(std::string_view home) { return Join(home, "logs"); }
std::string BrokerLogPath(std::string_view home) {
  return Join(home, "logs/broker.log");
}

absl::Status CheckSocketPath(std::string_view path) {
  constexpr size_t kMax = sizeof(sockaddr_un::sun_path) - 1;
  if (path.size() <= kMax) return absl::OkStatus();
  return Error(absl::StatusCode::kFailedPrecondition, "SOCKET_PATH_TOO_LONG",
               "the socket path " + std::string(path) + " has " +
                   std::to_string(path.size()) + " bytes, the limit is " +
                   std::to_string(kMax) +
                   "; set PI_INTERCOM_HOME to a shorter directory");
}

}  // namespace intercom
