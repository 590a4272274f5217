#include "worker-agent/host/line_writer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <utility>

namespace intercom {
namespace {

// What a pipe that polls writable takes without blocking.
constexpr size_t kPipeBytes = 4096;

// Writes some of `bytes` to a descriptor that polls writable, without blocking.
ssize_t WriteSome(int fd, std::string_view bytes) {
  const ssize_t sent =
      send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent >= 0 || errno != ENOTSOCK) return sent;
  return write(fd, bytes.data(), std::min(bytes.size(), kPipeBytes));
}

}  // namespace

LineWriter::LineWriter(int fd, Limits limits, Events events)
    : fd_(fd),
      limits_(limits),
      events_(std::move(events)),
      stop_fd_(eventfd(0, EFD_CLOEXEC)),
      thread_([this] { Run(); }) {}

LineWriter::~LineWriter() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
    changed_.NotifyAll();
  }
  eventfd_write(stop_fd_, 1);
  thread_.join();
  close(stop_fd_);
}

void LineWriter::Write(std::string line) {
  line += '\n';
  bool tell = false;
  bool full = false;
  {
    MutexLock lock(mu_);
    if (broken_) return;
    bytes_ += line.size();
    queue_.push_back(std::move(line));
    full = bytes_ > limits_.max_bytes;
    tell = UpdateBlocked();
    changed_.NotifyAll();
  }
  if (tell) events_.blocked_changed();
  if (full) Break();
}

bool LineWriter::blocked() {
  MutexLock lock(mu_);
  return blocked_;
}

bool LineWriter::Flush(int milliseconds) {
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::milliseconds(milliseconds);
  MutexLock lock(mu_);
  while (bytes_ > 0 && !broken_) {
    const auto left = end - std::chrono::steady_clock::now();
    if (left.count() <= 0) break;
    changed_.WaitFor(mu_, left);
  }
  return bytes_ == 0;
}

void LineWriter::Run() {
  while (true) {
    std::string line;
    {
      MutexLock lock(mu_);
      while (queue_.empty() && !stopping_) changed_.Wait(mu_);
      if (stopping_) return;
      line = std::move(queue_.front());
      queue_.pop_front();
    }
    const bool written = WriteAll(line);
    bool tell = false;
    {
      MutexLock lock(mu_);
      if (stopping_) return;
      if (written) {
        bytes_ -= line.size();
        tell = UpdateBlocked();
        changed_.NotifyAll();
      }
    }
    if (tell) events_.blocked_changed();
    if (!written) return Break();
  }
}

bool LineWriter::WriteAll(std::string_view bytes) {
  while (!bytes.empty()) {
    pollfd fds[] = {{fd_, POLLOUT, 0}, {stop_fd_, POLLIN, 0}};
    if (poll(fds, 2, -1) < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    if (fds[1].revents != 0) return false;
    const ssize_t written = WriteSome(fd_, bytes);
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return false;
    }
    bytes.remove_prefix(written);
  }
  return true;
}

void LineWriter::Break() {
  {
    MutexLock lock(mu_);
    if (broken_) return;
    broken_ = true;
    queue_.clear();
    changed_.NotifyAll();
  }
  events_.broken();
}

bool LineWriter::UpdateBlocked() {
  const bool before = blocked_;
  if (bytes_ > limits_.blocked_bytes) blocked_ = true;
  if (bytes_ <= limits_.resumed_bytes) blocked_ = false;
  return before != blocked_;
}

}  // namespace intercom
