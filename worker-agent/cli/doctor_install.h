#ifndef PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_INSTALL_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_INSTALL_H_

#include <optional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "worker-agent/cli/doctor_findings.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// A program, as far as it is there.
struct ProgramFacts {
  std::string name;
  // Empty: not found.
  std::string path = {};
  // Empty: it doesn't say, and `problem` why.
  std::string version = {};
  std::string problem = {};
};

// The parts of an installation.
struct InstallFacts {
  // Of this program.
  std::string version;
  ProgramFacts agent;
  ProgramFacts broker;
  ProgramFacts pi;
  // What Pi wants of Node: ">=22.19.0". Empty if that is not known.
  std::string node_range;
  ProgramFacts node;
  // Versions of Pi that can stop and close sessions.
  std::vector<std::string> verified;
  // The extension's directory, where Pi's settings name it. Empty: they don't.
  std::string extension;
  std::string extension_version;
  // The one that lies beside these programs. May be empty.
  std::string extension_beside;
  // The person's settings of the extension, and what is wrong with them.
  std::string settings;
  bool has_settings = false;
  std::string settings_problem;
  bool has_tmux = false;
  bool has_herdr = false;
};

// Where to look.
struct InstallPlaces {
  Environment environment;
  // Of this program.
  std::string program_directory;
  std::string account_home;
  // The present one, whose .pi/settings.json may name the extension.
  std::string directory;
};

// Reads files and asks the programs for their versions, nothing more. Blocks,
// some seconds at most.
InstallFacts ReadInstall(const InstallPlaces& places, const Clock& clock);

// Pure.
void CheckInstall(const InstallFacts& facts, DoctorFindings& findings);
// Whether what opens a workspace's workers is there.
void CheckMultiplexer(const InstallFacts& facts, const std::string& multiplexer,
                      DoctorFindings& findings);

// Whether `version` ("v24.1.0") is in a range of the kind ">=22.19.0". nullopt
// where either is written otherwise.
std::optional<bool> IsInRange(const std::string& version,
                              const std::string& range);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_DOCTOR_INSTALL_H_
