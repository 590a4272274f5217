#include "worker-agent/watch/watch_process.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

namespace intercom {
namespace {

// Read of a program's output after its end: what it left running may write for
// ever.
constexpr size_t kMostAfterEnd = size_t{1} << 20;

// One piece of what is there: empty at the end, nullopt if there is none now.
std::optional<std::string_view> ReadSome(int fd,
                                         std::array<char, 65536>& into) {
  while (true) {
    const ssize_t count = read(fd, into.data(), into.size());
    if (count >= 0) {
      return std::string_view(into.data(), static_cast<size_t>(count));
    }
    if (errno == EAGAIN) return std::nullopt;
    if (errno != EINTR) return std::string_view();
  }
}

}  // namespace

class WatchProcess::Reader {
 public:
  Reader(GuardedProcess process, const WatchOrder& order, const Clock& clock,
         const Events& events, int wake_fd)
      : process_(std::move(process)),
        feed_(order.mode, order.max_events),
        clock_(clock),
        deadline_(clock.Steady() + order.deadline),
        events_(events),
        wake_fd_(wake_fd) {}

  void Run() {
    while (!gone_ && !abandoned_) Turn();
    if (!abandoned_) events_.gone();
  }

 private:
  void Turn() {
    std::array<pollfd, 4> waiting = {
        pollfd{wake_fd_, POLLIN, 0}, pollfd{process_.guard(), POLLIN, 0},
        pollfd{process_.out(), POLLIN, 0}, pollfd{process_.err(), POLLIN, 0}};
    poll(waiting.data(), waiting.size(), Patience());
    Heed();
    if (abandoned_) return;
    gone_ = process_.ReadGuard();
    ReadOut();
    ReadErr();
    if (process_.status().has_value() || gone_) HandleEnd();
    if (!feed_.is_over() && clock_.Steady() >= deadline_) {
      Tell(feed_.Deadline());
    }
    if ((feed_.is_over() || cancelled_) && !ending_) {
      ending_ = true;
      process_.End();
    }
  }

  int Patience() const {
    if (ending_) return -1;
    const absl::Duration left = deadline_ - clock_.Steady();
    return static_cast<int>(
               std::max<int64_t>(0, absl::ToInt64Milliseconds(left))) +
           1;
  }

  void Heed() {
    uint64_t asked = 0;
    if (read(wake_fd_, &asked, sizeof(asked)) != sizeof(asked)) return;
    abandoned_ = asked >= kAbandon;
    cancelled_ = true;
  }

  bool ReadOut() {
    if (process_.out() < 0) return false;
    const auto bytes = ReadSome(process_.out(), buffer_);
    if (!bytes.has_value()) return false;
    if (bytes->empty()) process_.CloseOut();
    Tell(feed_.Out(*bytes));
    return !bytes->empty();
  }
  bool ReadErr() {
    if (process_.err() < 0) return false;
    const auto bytes = ReadSome(process_.err(), buffer_);
    if (!bytes.has_value()) return false;
    if (bytes->empty()) process_.CloseErr();
    feed_.Err(*bytes);
    return !bytes->empty();
  }

  // What it wrote is in the pipes by now.
  void HandleEnd() {
    if (feed_.is_over()) return;
    for (size_t read = 0; read < kMostAfterEnd && ReadErr();) {
      read += buffer_.size();
    }
    for (size_t read = 0; read < kMostAfterEnd && ReadOut();) {
      read += buffer_.size();
    }
    Tell(process_.status().has_value() ? feed_.Ended(*process_.status())
                                       : feed_.Lost());
  }

  void Tell(std::vector<WatchEvent> events) {
    if (cancelled_) return;
    for (WatchEvent& event : events) events_.event(std::move(event));
  }

  GuardedProcess process_;
  WatchFeed feed_;
  const Clock& clock_;
  const absl::Duration deadline_;
  const Events& events_;
  const int wake_fd_;
  std::array<char, 65536> buffer_;
  bool ending_ = false;
  bool cancelled_ = false;
  bool abandoned_ = false;
  bool gone_ = false;
};

WatchProcess::WatchProcess(GuardedCommand command, const WatchOrder& order,
                           const Clock& clock, Events events)
    : wake_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this, command = std::move(command), order, &clock,
               events = std::move(events)] {
        absl::StatusOr<GuardedProcess> process = GuardedProcess::Start(command);
        events.started(process.status());
        if (!process.ok()) return;
        Reader(*std::move(process), order, clock, events, wake_fd_).Run();
      }) {}

WatchProcess::~WatchProcess() {
  Wake(kAbandon);
  thread_.join();
  close(wake_fd_);
}

void WatchProcess::Wake(uint64_t what) {
  if (write(wake_fd_, &what, sizeof(what)) < 0) return;
}

}  // namespace intercom
