#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/process.h"
#include "worker-agent/launch/multiplexer.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

constexpr int kEndMilliseconds = 3000;

// Whether the process has ended, at the latest after kEndMilliseconds.
bool HasEnded(int64_t pid) {
  const int fd =
      static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
  if (fd >= 0) {
    pollfd ended{fd, POLLIN, 0};
    if (StartTicksOf(pid) != 0) poll(&ended, 1, kEndMilliseconds);
    close(fd);
  }
  return StartTicksOf(pid) == 0;
}

// One headless host: its hosting process, for as long as it serves its socket.
class Headless : public Multiplexer {
 public:
  explicit Headless(std::string socket) : socket_(std::move(socket)) {}

  absl::StatusOr<std::optional<Found>> Find(const v1::Pane& wanted) override {
    const absl::StatusOr<int> connected = ConnectSocket(socket_);
    if (absl::IsNotFound(connected.status())) {
      // It goes just before its process does.
      if (wanted.pid() != 0 && HasEnded(wanted.pid())) return std::nullopt;
      return PaneUnknown(MessageOf(connected.status()));
    }
    if (!connected.ok()) return PaneUnknown(MessageOf(connected.status()));
    const int64_t pid = ListenerOf(*connected);
    close(*connected);
    if (pid == 0)
      return PaneUnknown("whose socket " + socket_ + " is is not known");
    Found found;
    found.pane.set_launcher(kHeadlessLauncher);
    found.pane.set_server(socket_);
    found.pane.set_pane(wanted.pane());
    found.pane.set_pid(pid);
    return found;
  }

  // Its host has ended, so that it is about to end by itself.
  absl::Status Close(const v1::Pane& pane) override {
    const int fd = static_cast<int>(
        syscall(SYS_pidfd_open, static_cast<pid_t>(pane.pid()), 0));
    if (fd < 0) {
      return errno == ESRCH
                 ? absl::OkStatus()
                 : PaneUnknown("process " + std::to_string(pane.pid()) +
                               " can't be reached");
    }
    // The descriptor names whoever has the number now: only if that one still
    // listens is it the one that was meant.
    const auto found = Find(pane);
    if (found.ok() && found->has_value() &&
        (*found)->pane.pid() == pane.pid()) {
      syscall(SYS_pidfd_send_signal, fd, SIGTERM, nullptr, 0);
    }
    close(fd);
    return absl::OkStatus();
  }

  // It has no tab.
  absl::Status Name(const Found& found, const std::string& name) override {
    return absl::OkStatus();
  }

 private:
  const std::string socket_;
};

}  // namespace

std::unique_ptr<Multiplexer> MakeHeadless(const std::string& socket) {
  return std::make_unique<Headless>(socket);
}

}  // namespace intercom
