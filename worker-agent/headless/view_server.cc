#include "worker-agent/headless/view_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "broker/base/status_macros.h"
#include "worker-agent/headless/view_stream.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

constexpr size_t kMaxViewers = 16;

// How much of `text` was taken; -1 when the other side is gone.
ssize_t SendSome(int fd, std::string_view text) {
  while (true) {
    const ssize_t count =
        send(fd, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) return count;
    if (errno == EAGAIN) return 0;
    if (errno != EINTR) return -1;
  }
}

}  // namespace

absl::StatusOr<ViewServer> ViewServer::Listen(const std::string& path,
                                              const OutputRing& ring) {
  INTERCOM_ASSIGN_OR_RETURN(const int fd, ListenSocket(path));
  return ViewServer(path, fd, ring);
}

ViewServer::ViewServer(ViewServer&& other) noexcept
    : path_(std::exchange(other.path_, {})),
      fd_(std::exchange(other.fd_, -1)),
      ring_(other.ring_),
      viewers_(std::exchange(other.viewers_, {})) {}

ViewServer::~ViewServer() {
  if (fd_ < 0) return;
  unlink(path_.c_str());
  close(fd_);
  for (const Viewer& viewer : viewers_) close(viewer.fd);
}

void ViewServer::AddTo(std::vector<pollfd>& waiting) const {
  waiting.push_back({fd_, POLLIN, 0});
  for (const Viewer& viewer : viewers_) {
    const bool lacks = !viewer.head.empty() || viewer.position < ring_.end();
    waiting.push_back({viewer.fd,
                       static_cast<short>((viewer.talks ? POLLIN : 0) |
                                          (lacks ? POLLOUT : 0)),
                       0});
  }
}

void ViewServer::Accept() {
  int fd = -1;
  while ((fd = accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)) >=
         0) {
    if (viewers_.size() == kMaxViewers) {
      SendSome(fd, ViewHead(0));
      close(fd);
      continue;
    }
    viewers_.push_back({.fd = fd,
                        .position = ring_.begin(),
                        .head = ViewHead(ring_.end() - ring_.begin())});
  }
}

void ViewServer::Serve() {
  Accept();
  std::erase_if(viewers_, [this](Viewer& viewer) {
    if (Give(viewer)) return false;
    close(viewer.fd);
    return true;
  });
}

bool ViewServer::Give(Viewer& viewer) const {
  char ignored[512];
  ssize_t count = 0;
  while (viewer.talks && ((count = recv(viewer.fd, ignored, sizeof(ignored),
                                        MSG_DONTWAIT)) > 0 ||
                          (count < 0 && errno == EINTR))) {
  }
  // One that has nothing more to say may still listen; sending finds out.
  if (viewer.talks && count == 0) viewer.talks = false;
  if (viewer.position < ring_.begin()) return false;
  if (!viewer.head.empty()) {
    const ssize_t sent = SendSome(viewer.fd, viewer.head);
    if (sent < 0) return false;
    viewer.head.erase(0, static_cast<size_t>(sent));
    if (!viewer.head.empty()) return true;
  }
  const ssize_t sent = SendSome(viewer.fd, ring_.From(viewer.position));
  if (sent < 0) return false;
  viewer.position += sent;
  pollfd gone{viewer.fd, 0, 0};
  return poll(&gone, 1, 0) <= 0 || (gone.revents & (POLLHUP | POLLERR)) == 0;
}

bool ViewServer::IsCaughtUp() const {
  for (const Viewer& viewer : viewers_) {
    if (!viewer.head.empty() || viewer.position < ring_.end()) return false;
  }
  return true;
}

}  // namespace intercom
