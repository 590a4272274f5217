#include "worker-agent/monitor/terminal_signals.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace intercom {
namespace {

// A handler has nothing but what is global.
std::atomic<int> write_fd = -1;
std::atomic<int> read_fd = -1;

void OnSignal(int signal) {
  const int before = errno;
  const char byte = static_cast<char>(signal);
  // A full pipe has enough of them.
  (void)!write(write_fd.load(), &byte, 1);
  errno = before;
}

}  // namespace

TerminalSignals::TerminalSignals() {
  int ends[2];
  // Without a pipe the signals do what they do otherwise.
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return;
  read_fd = ends[0];
  write_fd = ends[1];
  for (const int signal : {SIGWINCH, SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    action.sa_flags = SA_RESTART;
    Saved saved = {.signal = signal, .action = {}};
    if (sigaction(signal, &action, &saved.action) == 0) saved_.push_back(saved);
  }
}

TerminalSignals::~TerminalSignals() {
  for (const Saved& saved : saved_) {
    sigaction(saved.signal, &saved.action, nullptr);
  }
  if (read_fd >= 0) close(read_fd.exchange(-1));
  if (write_fd >= 0) close(write_fd.exchange(-1));
}

int TerminalSignals::fd() const { return read_fd; }

int TerminalSignals::Read() {
  char byte = 0;
  return read_fd >= 0 && read(read_fd, &byte, 1) == 1 ? byte : 0;
}

}  // namespace intercom
