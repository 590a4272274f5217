#include "worker-agent/monitor/poll_loop.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "broker/base/error.h"

namespace intercom {
namespace {

int PollTimeout(absl::Duration wait) {
  if (wait == absl::InfiniteDuration()) return -1;
  // Rounded up: a millisecond too early would poll twice.
  const absl::Duration rounded = absl::Ceil(wait, absl::Milliseconds(1));
  return static_cast<int>(std::min<int64_t>(absl::ToInt64Milliseconds(rounded),
                                            std::numeric_limits<int>::max()));
}

}  // namespace

absl::StatusOr<std::unique_ptr<PollLoop>> PollLoop::Create(const Clock& clock) {
  const int wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_fd < 0) return ErrnoError(errno, "eventfd");
  return std::unique_ptr<PollLoop>(new PollLoop(clock, wake_fd));
}

PollLoop::PollLoop(const Clock& clock, int wake_fd)
    : clock_(clock), wake_fd_(wake_fd) {}

PollLoop::~PollLoop() { close(wake_fd_); }

void PollLoop::PostTask(Task task) {
  {
    MutexLock lock(mu_);
    ready_.push_back(std::move(task));
  }
  Wake();
}

void PollLoop::PostDelayedTask(Task task, absl::Duration delay) {
  {
    MutexLock lock(mu_);
    delayed_.emplace(std::make_pair(clock_.Steady() + delay, next_++),
                     std::move(task));
  }
  Wake();
}

void PollLoop::Watch(int fd, std::function<void()> readable) {
  watched_.emplace_back(fd, std::move(readable));
}

void PollLoop::Run() {
  std::vector<pollfd> fds = {{.fd = wake_fd_, .events = POLLIN, .revents = 0}};
  for (const auto& [fd, readable] : watched_) {
    fds.push_back({.fd = fd, .events = POLLIN, .revents = 0});
  }
  while (!HasQuit()) {
    const absl::Duration wait = RunDue();
    if (HasQuit()) return;
    if (poll(fds.data(), fds.size(), PollTimeout(wait)) <= 0) continue;
    if (fds[0].revents != 0) {
      uint64_t ignored;
      // Fails only where nothing is to be read.
      (void)!read(wake_fd_, &ignored, sizeof(ignored));
    }
    for (size_t i = 1; i < fds.size() && !HasQuit(); ++i) {
      if (fds[i].revents != 0) watched_[i - 1].second();
    }
  }
}

void PollLoop::Quit() {
  {
    MutexLock lock(mu_);
    quit_ = true;
  }
  Wake();
}

absl::Duration PollLoop::RunDue() {
  std::deque<Task> due;
  {
    MutexLock lock(mu_);
    due.swap(ready_);
    const absl::Duration now = clock_.Steady();
    while (!delayed_.empty() && delayed_.begin()->first.first <= now) {
      due.push_back(std::move(delayed_.begin()->second));
      delayed_.erase(delayed_.begin());
    }
  }
  for (Task& task : due) {
    if (HasQuit()) return absl::ZeroDuration();
    task();
    // What the task holds on to must not outlive its turn.
    task = nullptr;
  }
  MutexLock lock(mu_);
  if (!ready_.empty()) return absl::ZeroDuration();
  if (delayed_.empty()) return absl::InfiniteDuration();
  return std::max(delayed_.begin()->first.first - clock_.Steady(),
                  absl::ZeroDuration());
}

bool PollLoop::HasQuit() {
  MutexLock lock(mu_);
  return quit_;
}

void PollLoop::Wake() {
  const uint64_t one = 1;
  // Fails only where the loop is to wake up anyway.
  (void)!write(wake_fd_, &one, sizeof(one));
}

}  // namespace intercom
