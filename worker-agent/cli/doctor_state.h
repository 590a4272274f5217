#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_STATE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "worker-agent/cli/doctor_findings.h"

namespace intercom {

// What is at a path.
struct PathFacts {
  bool is_directory = false;
  bool is_ours = false;
  // Permission bits.
  int mode = 0;
  int64_t bytes = 0;
};

// The state directory as it is on disk.
struct StateFacts {
  std::string home;
  // Unset: not there.
  std::optional<PathFacts> directory;
  // "NFS" and so on; empty for a local file system.
  std::string foreign_file_system;
  // Of the nearest directory that is there. -1: not known.
  int64_t free_bytes = -1;
  std::optional<PathFacts> token;
  std::optional<PathFacts> store;
  // Whether there is an endpoint.json, and what is wrong with it.
  bool has_endpoint = false;
  std::string endpoint_problem;
  // Why no socket can be bound there. Empty if one can.
  std::string socket_path_problem;
  // Names of damaged stores that were put aside.
  std::vector<std::string> kept_aside;
  int64_t log_bytes = 0;
};

// Reads; changes nothing.
StateFacts ReadState(const std::string& home);

// Pure.
void CheckState(const StateFacts& facts, DoctorFindings& findings);

// "12 KiB", "3 MiB".
std::string BytesLabel(int64_t bytes);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_STATE_H_
