#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_SOCKETS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_SOCKETS_H_

#include <string>

#include "worker-agent/cli/doctor_findings.h"

namespace intercom {

// What this process may do with sockets: a sandbox may forbid it.
struct SocketFacts {
  // What failed, and why: "bind: Operation not permitted". Empty: a socket
  // could be made, bound and connected to.
  std::string unix_problem;
  std::string tcp_problem;
};

// Tries both, the Unix socket in a new directory below `directory`, which is
// removed again. Blocks for a moment.
SocketFacts TrySockets(const std::string& directory);

// Pure.
void CheckSockets(const SocketFacts& facts, DoctorFindings& findings);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_SOCKETS_H_
