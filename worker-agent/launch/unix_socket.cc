#include "worker-agent/launch/unix_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

#include "broker/base/error.h"

namespace intercom {
namespace {

// A name of a file that fits a socket's address: that of its directory by a
// descriptor, where the path itself is too long.
class SocketName {
 public:
  explicit SocketName(const std::string& path) : path_(path) {
    const size_t slash = path.rfind('/');
    if (path.size() < sizeof(sockaddr_un::sun_path) ||
        slash == std::string::npos) {
      return;
    }
    directory_ = open(path.substr(0, slash + 1).c_str(),
                      O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory_ < 0) return;
    path_ = "/proc/self/fd/" + std::to_string(directory_) + path.substr(slash);
  }
  ~SocketName() {
    if (directory_ >= 0) close(directory_);
  }
  SocketName(const SocketName&) = delete;
  SocketName& operator=(const SocketName&) = delete;

  // False if there is no such name.
  bool Fill(sockaddr_un& address) const {
    address.sun_family = AF_UNIX;
    if (path_.empty() || path_.size() >= sizeof(address.sun_path)) return false;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    return true;
  }

 private:
  std::string path_;
  int directory_ = -1;
};

// A socket that is closed at the end.
class Connection {
 public:
  Connection()
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {}
  ~Connection() {
    if (fd_ >= 0) close(fd_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // 0, or errno.
  int Connect(const std::string& path) const {
    sockaddr_un address{};
    const SocketName name(path);
    if (!name.Fill(address)) return ENOENT;
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) ==
        0) {
      return 0;
    }
    return errno;
  }

  // False when the time is over.
  bool Await(short events, const CommandRunner& allowance) const {
    while (true) {
      const int64_t left = absl::ToInt64Milliseconds(allowance.TimeLeft());
      pollfd descriptor{fd_, events, 0};
      const int ready = poll(&descriptor, 1, static_cast<int>(left));
      if (ready < 0 && errno == EINTR) continue;
      return ready > 0;
    }
  }
  int fd() const { return fd_; }
  int Take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

absl::Status Absent(const std::string& path, int error) {
  return Error(absl::StatusCode::kNotFound, "SOCKET_ABSENT",
               "nobody answers at " + path + ": " + std::strerror(error));
}

absl::Status Silent(const std::string& path) {
  return Error(absl::StatusCode::kDeadlineExceeded, "SOCKET_SILENT",
               "there was no answer from " + path + " in time");
}

absl::Status Closed(const std::string& path) {
  return Error(absl::StatusCode::kUnavailable, "SOCKET_CLOSED",
               path + " hung up without an answer");
}

}  // namespace

absl::StatusOr<int> ConnectSocket(const std::string& path) {
  Connection connection;
  const int error = connection.Connect(path);
  if (error == 0) return connection.Take();
  if (error != EAGAIN) return Absent(path, error);
  return Error(absl::StatusCode::kUnavailable, "SOCKET_BUSY",
               path + " takes nobody now; try again");
}

absl::StatusOr<int> ListenSocket(const std::string& path) {
  // Under its own name only once it listens.
  const std::string before = path + ".new";
  unlink(before.c_str());
  Connection listener;
  sockaddr_un address{};
  const SocketName name(before);
  if (!name.Fill(address)) return ErrnoError(ENAMETOOLONG, path);
  if (bind(listener.fd(), reinterpret_cast<sockaddr*>(&address),
           sizeof(address)) != 0 ||
      chmod(before.c_str(), 0600) != 0 ||
      listen(listener.fd(), SOMAXCONN) != 0 ||
      rename(before.c_str(), path.c_str()) != 0) {
    const int error = errno;
    unlink(before.c_str());
    return ErrnoError(error, path);
  }
  return listener.Take();
}

int64_t ListenerOf(int fd) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid
                                                                    : 0;
}

bool SomebodyListens(const std::string& path) {
  const int error = Connection().Connect(path);
  return error == 0 || error == EAGAIN;
}

absl::StatusOr<std::string> AskSocket(const std::string& path,
                                      const std::string& line,
                                      const CommandRunner& allowance) {
  const Connection connection;
  int error = connection.Connect(path);
  while (error == EAGAIN && allowance.TimeLeft() > absl::ZeroDuration()) {
    // Its queue of callers is full.
    allowance.Pause(absl::Milliseconds(20));
    error = connection.Connect(path);
  }
  if (error != 0) {
    return Absent(path, error);
  }
  const std::string text = line + "\n";
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t count =
        send(connection.fd(), rest.data(), rest.size(), MSG_NOSIGNAL);
    if (count > 0) {
      rest.remove_prefix(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      if (!connection.Await(POLLOUT, allowance)) return Silent(path);
    } else if (errno != EINTR) {
      return Closed(path);
    }
  }
  std::string answer;
  while (answer.find('\n') == std::string::npos) {
    if (answer.size() > allowance.output_bytes()) {
      return Error(absl::StatusCode::kResourceExhausted,
                   "SOCKET_ANSWER_TOO_LARGE",
                   path + " answered more than " +
                       std::to_string(allowance.output_bytes()) + " bytes");
    }
    if (!connection.Await(POLLIN, allowance)) return Silent(path);
    char bytes[4096];
    const ssize_t count = recv(connection.fd(), bytes, sizeof(bytes), 0);
    if (count > 0) {
      answer.append(bytes, static_cast<size_t>(count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      return Closed(path);
    }
  }
  answer.resize(answer.find('\n'));
  return answer;
}

}  // namespace intercom
