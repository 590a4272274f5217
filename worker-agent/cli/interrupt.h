#ifndef PI_INTERCOM_WORKER_AGENT_CLI_INTERRUPT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_INTERRUPT_H_

#include <signal.h>

#include "absl/time/time.h"

namespace intercom {

// Ctrl-C and SIGTERM as something to wait for, instead of an end of the
// process, as long as this object lives. One at a time in a process; used by
// one thread.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // Readable once somebody has interrupted.
  int descriptor() const { return descriptor_; }
  bool HasCome() const { return Await(absl::ZeroDuration()); }
  // Whether somebody interrupts, or has, before `time` is over.
  bool Await(absl::Duration time) const;

 private:
  int descriptor_;
  struct sigaction before_int_ = {};
  struct sigaction before_term_ = {};
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_INTERRUPT_H_
