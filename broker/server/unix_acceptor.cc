#include "broker/server/unix_acceptor.h"

#include <fcntl.h>
#include <grpcpp/server_posix.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "spdlog/spdlog.h"

namespace intercom {
namespace {

constexpr int kBacklog = 256;
constexpr int kFirstDescriptor = 64;

int DescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, 1 << 20));
}

uint64_t InodeOf(const std::string& path) {
  struct stat facts {};
  return stat(path.c_str(), &facts) == 0 ? facts.st_ino : 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UnixAcceptor>> UnixAcceptor::Listen(
    const std::string& path, Peers& peers) {
  INTERCOM_RETURN_IF_ERROR(CheckSocketPath(path));
  const int listener =
      socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener < 0) return ErrnoError(errno, "can't make a Unix socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  unlink(path.c_str());
  const mode_t mask = umask(0177);
  const bool bound = bind(listener, reinterpret_cast<sockaddr*>(&address),
                          sizeof(address)) == 0 &&
                     listen(listener, kBacklog) == 0;
  const int error = errno;
  umask(mask);
  int wake[2];
  if (!bound || pipe2(wake, O_CLOEXEC) != 0) {
    close(listener);
    return ErrnoError(error, "can't listen on " + path);
  }
  return std::unique_ptr<UnixAcceptor>(
      new UnixAcceptor(path, listener, wake[0], wake[1], peers));
}

UnixAcceptor::UnixAcceptor(std::string path, int listener, int wake_read,
                           int wake_write, Peers& peers)
    : path_(std::move(path)),
      listener_(listener),
      wake_read_(wake_read),
      wake_write_(wake_write),
      peers_(peers),
      inode_(InodeOf(path_)),
      next_descriptor_(kFirstDescriptor) {}

UnixAcceptor::~UnixAcceptor() {
  Stop();
  if (InodeOf(path_) == inode_) unlink(path_.c_str());
  close(listener_);
  close(wake_read_);
}

void UnixAcceptor::Start(grpc::Server& server) {
  thread_ = std::thread([this, &server] { Run(server); });
}

void UnixAcceptor::Stop() {
  if (wake_write_ >= 0) close(wake_write_);
  wake_write_ = -1;
  if (thread_.joinable()) thread_.join();
}

void UnixAcceptor::Run(grpc::Server& server) {
  while (true) {
    pollfd waits[] = {{listener_, POLLIN, 0}, {wake_read_, POLLIN, 0}};
    if (poll(waits, 2, -1) < 0 && errno != EINTR) return;
    if (waits[1].revents != 0) return;
    if (waits[0].revents != 0) Accept(server);
  }
}

void UnixAcceptor::Accept(grpc::Server& server) {
  const int accepted =
      accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (accepted < 0) {
    if (errno == EMFILE || errno == ENFILE) {
      // The backlog holds them until descriptors are free again.
      spdlog::error("no descriptor left for a connection");
      pollfd pause{wake_read_, POLLIN, 0};
      poll(&pause, 1, 100);
    }
    return;
  }
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(accepted, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0 ||
      credentials.uid != getuid()) {
    spdlog::warn("refused a connection of user {}", credentials.uid);
    close(accepted);
    return;
  }
  int descriptor = fcntl(accepted, F_DUPFD_CLOEXEC, next_descriptor_);
  if (descriptor < 0) {
    next_descriptor_ = kFirstDescriptor;
    descriptor = fcntl(accepted, F_DUPFD_CLOEXEC, next_descriptor_);
  }
  close(accepted);
  if (descriptor < 0) return;
  next_descriptor_ = descriptor + 1;
  if (next_descriptor_ >= DescriptorLimit()) {
    next_descriptor_ = kFirstDescriptor;
  }
  peers_.AddUnixPeer(descriptor, credentials.pid);
  grpc::AddInsecureChannelFromFd(&server, descriptor);
}

}  // namespace intercom
