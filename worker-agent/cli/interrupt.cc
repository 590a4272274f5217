#include "worker-agent/cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace intercom {
namespace {

// What the signal handler writes to; -1 while there is none.
std::atomic<int> interrupt_descriptor = -1;

void OnSignal(int) {
  const int saved_errno = errno;
  const uint64_t one = 1;
  // It can only fail when it is readable already.
  [[maybe_unused]] const ssize_t written =
      write(interrupt_descriptor.load(), &one, sizeof(one));
  errno = saved_errno;
}

// What whoever started the process has it ignore, it ignores.
void Install(int number, const struct sigaction& action,
             struct sigaction& before) {
  sigaction(number, &action, &before);
  if (before.sa_handler == SIG_IGN) sigaction(number, &before, nullptr);
}

}  // namespace

Interrupt::Interrupt() : descriptor_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  interrupt_descriptor = descriptor_;
  struct sigaction action = {};
  action.sa_handler = OnSignal;
  sigemptyset(&action.sa_mask);
  // What is written meanwhile is written whole.
  action.sa_flags = SA_RESTART;
  Install(SIGINT, action, before_int_);
  Install(SIGTERM, action, before_term_);
}

Interrupt::~Interrupt() {
  sigaction(SIGINT, &before_int_, nullptr);
  sigaction(SIGTERM, &before_term_, nullptr);
  interrupt_descriptor = -1;
  close(descriptor_);
}

bool Interrupt::Await(absl::Duration time) const {
  pollfd waiting{descriptor_, POLLIN, 0};
  return poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(time))) ==
         1;
}

}  // namespace intercom
