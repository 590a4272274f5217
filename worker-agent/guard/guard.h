#ifndef PI_INTERCOM_WORKER_AGENT_GUARD_GUARD_H_
#define PI_INTERCOM_WORKER_AGENT_GUARD_GUARD_H_

#include <optional>
#include <string>
#include <vector>

namespace intercom {

// What a guard is to do.
struct GuardOrder {
  // Its end of a socket; see README.md.
  int fd = 0;
  // From SIGTERM to SIGKILL.
  int grace_milliseconds = 5000;
  // A program's path and its arguments.
  std::vector<std::string> argv;
};

// What the words `--guard FD [--grace MILLISECONDS] -- PROGRAM ARGS…` order;
// nullopt for others.
std::optional<GuardOrder> GuardOrderOf(const std::vector<std::string>& words);

// This process becomes the guard of that program, which gets its standard
// streams, directory and environment. Blocks until the program has ended and
// nothing that it started is left. Its exit code, 128 and the number of the
// signal that ended it, 127 where it can't be run.
//
// To be called first thing in a process that has one thread.
int RunGuard(GuardOrder order);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_GUARD_GUARD_H_
