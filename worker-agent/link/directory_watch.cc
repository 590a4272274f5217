#include "worker-agent/link/directory_watch.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>

namespace intercom {
namespace {

// A socket appears a moment before it listens, locks are freed silently, and
// watches can be used up: so nobody sleeps longer than this.
constexpr absl::Duration kLongestSleep = absl::Milliseconds(200);

}  // namespace

DirectoryWatch::DirectoryWatch(const std::string& directory)
    : fd_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  inotify_add_watch(fd_, directory.c_str(),
                    IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_ONLYDIR);
}

DirectoryWatch::~DirectoryWatch() {
  if (fd_ >= 0) close(fd_);
}

void DirectoryWatch::Wait(absl::Duration timeout) {
  const absl::Duration longest = std::min(timeout, kLongestSleep);
  if (longest <= absl::ZeroDuration()) return;
  pollfd descriptor{fd_, POLLIN, 0};  // poll() ignores a negative one.
  poll(&descriptor, 1, static_cast<int>(absl::ToInt64Milliseconds(longest)));
  char events[4096];
  while (read(fd_, events, sizeof(events)) > 0) {
  }
}

}  // namespace intercom
