#include "broker/server/port_choice.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "broker/base/error.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

// Whether this user could listen on 127.0.0.1:port now.
bool IsFree(int port) {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (probe < 0) return false;
  // As gRPC binds: a port in TIME_WAIT is free.
  const int on = 1;
  setsockopt(probe, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_free = bind(probe, reinterpret_cast<sockaddr*>(&address),
                            sizeof(address)) == 0 &&
                       listen(probe, 1) == 0;
  close(probe);
  return is_free;
}

}  // namespace

absl::Status PortInUse(int port) {
  return Error(absl::StatusCode::kUnavailable, "PORT_IN_USE",
               "port " + std::to_string(port) +
                   " of 127.0.0.1 is in use by another program; choose "
                   "another with --port, or leave it out");
}

absl::StatusOr<int> ChoosePort(int fixed, const std::vector<int>& preferred) {
  if (fixed > 0) {
    if (!IsFree(fixed)) return PortInUse(fixed);
    return fixed;
  }
  for (const int wanted : preferred) {
    if (wanted == 0) continue;
    if (IsFree(wanted)) return wanted;
    spdlog::warn("port {} is in use; taking another one", wanted);
  }
  // The system's choice, which stays free for the moment until gRPC binds it.
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  const bool chosen =
      probe >= 0 &&
      bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  const int error = errno;
  if (probe >= 0) close(probe);
  if (!chosen) return ErrnoError(error, "no port of 127.0.0.1 can be bound");
  return ntohs(address.sin_port);
}

}  // namespace intercom
