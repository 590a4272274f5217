#include "worker-agent/headless/host_input.h"

#include <unistd.h>

#include <cerrno>

namespace intercom {

bool HostInput::Add(std::string_view line) {
  if (waiting_.size() + line.size() + 1 > kMostBytes) return false;
  waiting_ += line;
  waiting_ += '\n';
  return true;
}

bool HostInput::Write(int fd) {
  while (!waiting_.empty()) {
    const ssize_t count = write(fd, waiting_.data(), waiting_.size());
    if (count > 0) {
      waiting_.erase(0, static_cast<size_t>(count));
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  return true;
}

}  // namespace intercom
