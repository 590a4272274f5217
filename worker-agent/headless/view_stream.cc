#include "worker-agent/headless/view_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <optional>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

constexpr std::string_view kHead = "pi-intercom-view 1 ";
constexpr size_t kMaxHeadBytes = 64;
// For the first line, and between pieces of what is there already.
constexpr int kPatienceMilliseconds = 10'000;

absl::Status Lost(const std::string& why) {
  return Error(absl::StatusCode::kUnavailable, "VIEW_LOST", why);
}

// What comes next: empty at the end. nullopt if nothing does in time.
std::optional<std::string> Receive(int fd, int milliseconds) {
  char bytes[16 << 10];
  while (true) {
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, milliseconds);
    if (ready == 0) return std::nullopt;
    const ssize_t count = ready < 0 ? -1 : recv(fd, bytes, sizeof(bytes), 0);
    if (count >= 0) return std::string(bytes, static_cast<size_t>(count));
    if (errno != EINTR && errno != EAGAIN) return "";
  }
}

absl::Status Follow(int fd, bool follow,
                    const std::function<bool(std::string_view)>& show) {
  std::string text;
  size_t end = 0;
  while ((end = text.find('\n')) == std::string::npos) {
    const auto more = Receive(fd, kPatienceMilliseconds);
    if (!more.has_value() || more->empty() || text.size() > kMaxHeadBytes) {
      return Lost(
          "what listens there is no headless worker, or takes no more "
          "viewers; try again");
    }
    text += *more;
  }
  int64_t left = -1;
  if (text.starts_with(kHead)) {
    std::from_chars(text.data() + kHead.size(), text.data() + end, left);
  }
  if (left < 0)
    return Lost(
        "what listens there is no headless worker; intercom list shows "
        "those that there are");
  text.erase(0, end + 1);
  while (true) {
    if (!follow && static_cast<int64_t>(text.size()) > left) {
      text.resize(static_cast<size_t>(left));
    }
    left -= static_cast<int64_t>(text.size());
    if (!text.empty() && !show(text)) return absl::OkStatus();
    if (!follow && left <= 0) return absl::OkStatus();
    const auto more = Receive(fd, left > 0 ? kPatienceMilliseconds : -1);
    if (!more.has_value() || (more->empty() && left > 0)) {
      return Lost(
          "the worker's host stopped telling what it had said; view it "
          "again, or see intercom list whether it is there still");
    }
    if (more->empty()) return absl::OkStatus();
    text = *more;
  }
}

}  // namespace

std::string ViewHead(int64_t bytes) {
  return std::string(kHead) + std::to_string(bytes) + "\n";
}

absl::Status View(const std::string& path, bool follow,
                  const std::function<bool(std::string_view)>& show) {
  INTERCOM_ASSIGN_OR_RETURN(const int fd, ConnectSocket(path));
  absl::Status status = Follow(fd, follow, show);
  close(fd);
  return status;
}

}  // namespace intercom
