#include "worker-agent/cli/doctor_state.h"

#include <cstddef>
#include <iterator>

namespace intercom {
namespace {

constexpr int64_t kLittleSpace = 100 << 20;
constexpr int64_t kNoSpace = 4 << 20;
// Three files of 4 MiB, and some room.
constexpr int64_t kBigLogs = 16 << 20;

std::string Octal(int mode) {
  std::string digits;
  for (int shift = 6; shift >= 0; shift -= 3) {
    digits += static_cast<char>('0' + ((mode >> shift) & 7));
  }
  return "0" + digits;
}

void CheckDirectory(const StateFacts& facts, DoctorFindings& findings) {
  const PathFacts& directory = *facts.directory;
  const std::string name = "the state directory " + facts.home;
  if (!directory.is_directory) {
    findings.Error("state", facts.home + " is no directory",
                   "move it away, or set PI_INTERCOM_HOME to another path");
  } else if (!directory.is_ours) {
    findings.Error("state", name + " belongs to another user",
                   "set PI_INTERCOM_HOME to a directory of your own");
  } else if ((directory.mode & 0777) != 0700) {
    const std::string mode = Octal(directory.mode);
    const std::string remedy = "chmod 700 '" + facts.home + "'";
    if ((directory.mode & 0700) != 0700) {
      findings.Error("state", name + " can't be used: its mode is " + mode,
                     remedy);
    } else {
      findings.Error("state",
                     name + " can be entered by others: its mode is " + mode,
                     remedy);
    }
  } else {
    findings.Ok("state", name + " is yours alone");
  }
}

void CheckToken(const StateFacts& facts, DoctorFindings& findings) {
  const std::string path = facts.home + "/token";
  if (!facts.token.has_value()) {
    findings.Note("token", "there is no token yet: the first broker makes one");
  } else if (!facts.token->is_ours) {
    findings.Error("token", path + " belongs to another user",
                   "remove it; the next broker makes a new one: intercom "
                   "broker restart");
  } else if ((facts.token->mode & 0777) != 0600) {
    findings.Error("token",
                   path + " has mode " + Octal(facts.token->mode) +
                       (facts.token->mode & 0077 ? ": others may have read it"
                                                 : ": it can't be used"),
                   "if others may have read it, rm '" + path +
                       "' && intercom broker restart makes a new one; else "
                       "chmod 600 '" +
                       path + "'");
  } else if (facts.token->bytes == 0) {
    findings.Error("token", path + " is empty",
                   "intercom broker restart makes a new one");
  } else {
    findings.Ok("token", "the token is readable by you alone");
  }
}

void CheckStore(const StateFacts& facts, DoctorFindings& findings) {
  if (!facts.store.has_value()) {
    findings.Note("store_file", "there is no store yet: nothing was ever sent");
  } else if (!facts.store->is_ours || (facts.store->mode & 0600) != 0600) {
    findings.Error("store_file",
                   facts.home + "/state.db can't be read and written by you",
                   "chown it to yourself and chmod 600 it");
  }
  for (const std::string& name : facts.kept_aside) {
    findings.Note("store_file", "a damaged store is kept aside: " + name,
                  "what could be saved of it is in the present store; remove "
                  "it, and what begins with its name, once nobody needs it: " +
                      facts.home);
  }
}

void CheckSpace(const StateFacts& facts, DoctorFindings& findings) {
  if (facts.free_bytes < 0) return;
  const std::string what =
      BytesLabel(facts.free_bytes) + " are free where the state directory is";
  const std::string remedy =
      "make room: without it the broker accepts no messages";
  if (facts.free_bytes < kNoSpace) {
    findings.Error("disk", what, remedy);
  } else if (facts.free_bytes < kLittleSpace) {
    findings.Warning("disk", what, remedy);
  } else {
    findings.Ok("disk", what);
  }
}

}  // namespace

std::string BytesLabel(int64_t bytes) {
  constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  size_t unit = 0;
  while (bytes >= 10'240 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

void CheckState(const StateFacts& facts, DoctorFindings& findings) {
  if (!facts.socket_path_problem.empty()) {
    findings.Error("socket_path", facts.socket_path_problem,
                   "set PI_INTERCOM_HOME to a shorter path");
  }
  if (!facts.foreign_file_system.empty()) {
    findings.Error("file_system",
                   "the state directory " + facts.home + " is on " +
                       facts.foreign_file_system +
                       ", where locks and syncs can't be relied on",
                   "set PI_INTERCOM_HOME to a directory on a local disk");
  }
  CheckSpace(facts, findings);
  if (!facts.directory.has_value()) {
    findings.Note("state", "there is no state directory " + facts.home +
                               " yet: the first broker makes it");
    return;
  }
  CheckDirectory(facts, findings);
  if (!facts.directory->is_directory) return;
  CheckToken(facts, findings);
  if (!facts.endpoint_problem.empty()) {
    findings.Warning("endpoint",
                     facts.home + "/endpoint.json " + facts.endpoint_problem,
                     "clients on the TCP port find it there; intercom broker "
                     "restart writes it anew");
  } else if (facts.has_endpoint) {
    findings.Ok("endpoint", "endpoint.json is readable");
  }
  CheckStore(facts, findings);
  if (facts.log_bytes > kBigLogs) {
    findings.Warning("logs",
                     "the logs take " + BytesLabel(facts.log_bytes) + " in " +
                         facts.home + "/logs",
                     "remove old ones; those of a running broker are rotated");
  } else {
    findings.Ok("logs", "the logs take " + BytesLabel(facts.log_bytes));
  }
}

}  // namespace intercom
