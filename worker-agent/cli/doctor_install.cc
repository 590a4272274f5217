#include "worker-agent/cli/doctor_install.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "worker-agent/cli/words.h"

namespace intercom {
namespace {

using Version = std::array<int, 3>;

std::optional<Version> Parse(const std::string& text) {
  Version version{};
  if (std::sscanf(text.c_str(), "%d.%d.%d", &version[0], &version[1],
                  &version[2]) != 3) {
    return std::nullopt;
  }
  return version;
}

void CheckPart(const ProgramFacts& part, const std::string& version,
               DoctorFindings& findings) {
  if (part.path.empty()) {
    findings.Error("programs", part.name + " is not beside this program",
                   "build it: bash broker/start.sh");
  } else if (part.version.empty()) {
    findings.Error("programs", part.path + " can't be run: " + part.problem,
                   "build it anew: bash broker/start.sh");
  } else if (part.version != version) {
    findings.Error(
        "programs",
        part.path + " is version " + part.version + ", this program " + version,
        "build all of them: bash broker/start.sh");
  } else {
    findings.Ok("programs", part.name + " " + part.version);
  }
}

void CheckPi(const InstallFacts& facts, DoctorFindings& findings) {
  const ProgramFacts& pi = facts.pi;
  if (pi.path.empty()) {
    findings.Warning("pi", "there is no pi on PATH",
                     "put it there; broker/start.sh says where it installed "
                     "one. Headless workers start it");
    return;
  }
  if (pi.version.empty()) {
    findings.Note("pi", "the version of " + pi.path +
                            " is not known: it is not in Pi's package");
    return;
  }
  const auto& known = facts.verified;
  if (std::find(known.begin(), known.end(), pi.version) != known.end()) {
    findings.Ok("pi", "Pi " + pi.version + ", known to stop and close safely");
    return;
  }
  findings.Warning("pi",
                   "Pi " + pi.version +
                       " is not known to stop and close sessions safely: both "
                       "are refused in it (known: " +
                       JoinWords(known) + ")",
                   "install a known version, or prove this one with npm run "
                   "test:live in the extension and add it to "
                   "src/verified-hosts.json");
}

void CheckNode(const InstallFacts& facts, DoctorFindings& findings) {
  const ProgramFacts& node = facts.node;
  if (node.path.empty()) {
    findings.Warning("node", "there is no node on PATH",
                     "Pi runs in it; broker/start.sh says where it installed "
                     "one");
  } else if (node.version.empty()) {
    findings.Error("node", node.path + " can't be run: " + node.problem,
                   "install Node anew");
  } else if (IsInRange(node.version, facts.node_range) == false) {
    findings.Error("node",
                   "Node " + node.version + " is too old for Pi, which wants " +
                       facts.node_range,
                   "put a newer one first on PATH; broker/start.sh installs "
                   "one in extension/node_modules/node/bin");
  } else {
    findings.Ok("node", "Node " + node.version);
  }
}

void CheckExtension(const InstallFacts& facts, DoctorFindings& findings) {
  const std::string beside = facts.extension_beside.empty()
                                 ? "the extension's directory"
                                 : "'" + facts.extension_beside + "'";
  if (facts.extension.empty()) {
    findings.Note("extension",
                  "Pi's settings name no pi-intercom: sessions have it only "
                  "where they are started with pi -e",
                  "to have it in all of them: pi install " + beside);
  } else if (!facts.extension_version.empty() &&
             facts.extension_version != facts.version) {
    findings.Warning("extension",
                     "the extension that Pi loads, " + facts.extension +
                         ", is version " + facts.extension_version +
                         ", this program " + facts.version,
                     "install the one of these programs: pi install " + beside);
  } else {
    findings.Ok("extension", "Pi loads the extension: " + facts.extension);
  }
  if (!facts.settings_problem.empty()) {
    findings.Error("settings", facts.settings + " " + facts.settings_problem,
                   "repair it: sessions don't attach before");
  } else if (facts.has_settings) {
    findings.Ok("settings", "the extension's settings are JSON");
  }
}

}  // namespace

std::optional<bool> IsInRange(const std::string& version,
                              const std::string& range) {
  if (!range.starts_with(">=")) return std::nullopt;
  const auto least = Parse(range.substr(2));
  const auto present =
      Parse(version.starts_with('v') ? version.substr(1) : version);
  if (!least.has_value() || !present.has_value()) return std::nullopt;
  return *present >= *least;
}

void CheckInstall(const InstallFacts& facts, DoctorFindings& findings) {
  findings.Ok("programs", "intercom " + facts.version);
  CheckPart(facts.agent, facts.version, findings);
  CheckPart(facts.broker, facts.version, findings);
  CheckPi(facts, findings);
  CheckNode(facts, findings);
  CheckExtension(facts, findings);
  if (!facts.has_tmux && !facts.has_herdr) {
    findings.Note("multiplexers", "neither tmux nor herdr is on PATH",
                  "workers in panes need one of them; headless ones don't");
  } else {
    findings.Ok("multiplexers", facts.has_tmux && facts.has_herdr
                                    ? "tmux and herdr are on PATH"
                                : facts.has_tmux ? "tmux is on PATH"
                                                 : "herdr is on PATH");
  }
}

void CheckMultiplexer(const InstallFacts& facts, const std::string& multiplexer,
                      DoctorFindings& findings) {
  if ((multiplexer == "tmux" && !facts.has_tmux) ||
      (multiplexer == "herdr" && !facts.has_herdr)) {
    findings.Note(
        "multiplexers",
        "workers of this workspace open in " + multiplexer +
            ", which is not on PATH",
        "install it, or have the coordinator choose another launcher with "
        "intercom_set_multiplexer; one that a person opens needs none");
  }
}

}  // namespace intercom
