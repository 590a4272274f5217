#include "worker-agent/cli/doctor_sockets.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace intercom {
namespace {

constexpr int kWaitMs = 2'000;

// A socket that is closed with it.
class Socket {
 public:
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  ~Socket() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return descriptor_; }

 private:
  const int descriptor_;
};

std::string Failed(const char* call) {
  return std::string(call) + ": " + strerror(errno);
}

// `address` is bound, and then connected to at the address that came of it.
std::string TryPair(int family, sockaddr* address, socklen_t bytes) {
  const Socket server(socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (server.get() < 0) return Failed("socket");
  if (bind(server.get(), address, bytes) != 0) return Failed("bind");
  if (listen(server.get(), 1) != 0) return Failed("listen");
  if (getsockname(server.get(), address, &bytes) != 0) {
    return Failed("getsockname");
  }
  const Socket client(
      socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (client.get() < 0) return Failed("socket");
  if (connect(client.get(), address, bytes) != 0 && errno != EINPROGRESS) {
    return Failed("connect");
  }
  pollfd arrival{server.get(), POLLIN, 0};
  if (poll(&arrival, 1, kWaitMs) != 1) return "no connection arrives";
  const Socket accepted(accept(server.get(), nullptr, nullptr));
  return accepted.get() < 0 ? Failed("accept") : "";
}

std::string TryUnix(const std::string& directory) {
  std::string folder = directory + "/intercom-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) {
    return "no directory can be made in " + directory + ": " + strerror(errno);
  }
  const std::string path = folder + "/s";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::string problem;
  if (path.size() >= sizeof(address.sun_path)) {
    problem = "the path " + path + " is too long";
  } else {
    memcpy(address.sun_path, path.c_str(), path.size() + 1);
    problem = TryPair(AF_UNIX, reinterpret_cast<sockaddr*>(&address),
                      sizeof(address));
  }
  unlink(path.c_str());
  rmdir(folder.c_str());
  return problem;
}

std::string TryTcp() {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return TryPair(AF_INET, reinterpret_cast<sockaddr*>(&address),
                 sizeof(address));
}

}  // namespace

SocketFacts TrySockets(const std::string& directory) {
  return {.unix_problem = TryUnix(directory), .tcp_problem = TryTcp()};
}

void CheckSockets(const SocketFacts& facts, DoctorFindings& findings) {
  if (facts.unix_problem.empty()) {
    findings.Ok("sockets", "Unix sockets work here");
  } else {
    findings.Error("sockets",
                   "Unix sockets don't work here: " + facts.unix_problem,
                   "a sandbox may forbid them: allow the state directory's "
                   "broker.sock, or run Pi outside of it");
  }
  if (facts.tcp_problem.empty()) {
    findings.Ok("sockets", "TCP on the loopback works here");
  } else {
    findings.Error("sockets",
                   "TCP on 127.0.0.1 doesn't work here: " + facts.tcp_problem,
                   "a sandbox may forbid it: the broker listens on the "
                   "loopback; start it outside: intercom broker start");
  }
}

}  // namespace intercom
