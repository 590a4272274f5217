#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_TERMINAL_SIGNALS_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_TERMINAL_SIGNALS_H_

#include <csignal>
#include <vector>

#include "absl/status/status.h"

namespace intercom {

// The signals of a terminal as bytes in a pipe, whichever thread gets them.
// One at a time.
class TerminalSignals {
 public:
  TerminalSignals();
  // Puts back what was there before.
  ~TerminalSignals();
  TerminalSignals(const TerminalSignals&) = delete;
  TerminalSignals& operator=(const TerminalSignals&) = delete;

  // Readable when there was one.
  int fd() const;
  // The next signal; 0 for none.
  int Read();

 private:
  struct Saved {
    int signal;
    struct sigaction action;
  };
  std::vector<Saved> saved_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_TERMINAL_SIGNALS_H_
