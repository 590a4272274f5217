#ifndef PI_INTERCOM_BROKER_BASE_HOME_H_
#define PI_INTERCOM_BROKER_BASE_HOME_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace intercom {

// The state directory of this user account: `PI_INTERCOM_HOME`, else
// `.local/state/pi-intercom` in the home directory of the account database (a
// terminal's HOME may be another one). FAILED_PRECONDITION (HOME_INVALID) if
// the variable is not an absolute path or the account has no home.
absl::StatusOr<std::string> IntercomHome();

// The home directory of this account, from the account database.
absl::StatusOr<std::string> AccountHome();

// Files of the state directory.
std::string SocketPath(std::string_view home);
std::string TokenPath(std::string_view home);
std::string EndpointPath(std::string_view home);
std::string DatabasePath(std::string_view home);
// Held while starting a broker.
std::string StartLockPath(std::string_view home);
// Held by the broker for life: fcntl's F_GETLK on it names the broker's pid.
std::string BrokerLockPath(std::string_view home);
std::string LogDirectory(std::string_view home);
std::string BrokerLogPath(std::string_view home);

// OK if a Unix socket can be bound at `path`: it must fit the kernel's 107
// bytes (FAILED_PRECONDITION, SOCKET_PATH_TOO_LONG, saying what to do).
absl::Status CheckSocketPath(std::string_view path);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_BASE_HOME_H_
