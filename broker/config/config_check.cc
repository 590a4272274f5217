#include "broker/config/config_check.h"

#include <set>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"
#include "broker/config/config_directory.h"
#include "broker/config/json_syntax.h"
#include "broker/domain/fence.h"
#include "broker/domain/identity.h"
#include "broker/domain/text_rules.h"

namespace intercom {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;
using Finding = v1::ConfigFinding;

// What a config of version 1 has a meaning for.
const std::set<std::string>& KnownKeys(bool of_agent) {
  static const auto& top =
      *new std::set<std::string>{"version", "multiplexer", "agents"};
  static const auto& agent = *new std::set<std::string>{
      "sessionId",        "name",    "coordinator", "description", "port",
      "projectDirectory", "handoff", "closeJob"};
  return of_agent ? agent : top;
}

Finding Make(Finding::Severity severity, const std::string& path,
             const std::string& what, const std::string& remedy) {
  Finding finding;
  finding.set_severity(severity);
  finding.set_message(path + ": " + what);
  finding.set_remedy(remedy);
  return finding;
}

void AddUnknownKeys(const std::string& path, const json& object,
                    const Pointer& at, bool of_agent,
                    std::vector<Finding>& findings) {
  for (const auto& item : object.items()) {
    if (KnownKeys(of_agent).contains(item.key())) continue;
    findings.push_back(Make(
        Finding::SEVERITY_NOTE, path,
        SafeLabel((at / item.key()).to_string(), 256) +
            " is kept, and nothing is done with it",
        "Nothing, unless it was meant for something: look for a slip of the "
        "pen in the key."));
  }
}

void AddNames(const std::string& path, const v1::AgentEntry& agent,
              const Pointer& at, std::vector<Finding>& findings) {
  const std::string pointer = (at / std::string("name")).to_string();
  if (NameKey(agent.name()) == kPersonName) {
    findings.push_back(Make(
        Finding::SEVERITY_WARNING, path,
        pointer + " is what the mailbox of the account's person is called: "
                  "mail to \"person\" goes to this session in its stead",
        "Give the worker another name."));
  } else if (!IsNameLabel(agent.name())) {
    findings.push_back(Make(Finding::SEVERITY_NOTE, path,
                            pointer + " is shown as " +
                                QuotedLine(NameLabel(agent.name())) +
                                ", without what could pass for something else",
                            "Nothing: either name finds the session."));
  }
}

}  // namespace

std::vector<Finding> FindingsOf(const ConfigSnapshot& snapshot) {
  const std::string path = ConfigPath(snapshot.root);
  std::vector<Finding> findings;
  const auto file = ParseConfigJson(snapshot.bytes, path);
  // A snapshot has been parsed before.
  if (!file.ok()) return {ErrorFinding(file.status())};
  if (!file->contains("multiplexer")) {
    findings.push_back(Make(Finding::SEVERITY_NOTE, path,
                            "/multiplexer is missing: workers open in herdr",
                            "Nothing, or have the coordinator choose with "
                            "intercom_set_multiplexer."));
  }
  AddUnknownKeys(path, *file, Pointer(), /*of_agent=*/false, findings);
  const std::vector<v1::AgentEntry>& agents = snapshot.config.agents();
  for (size_t i = 0; i < agents.size(); ++i) {
    const Pointer at = Pointer("/agents") / i;
    AddNames(path, agents[i], at, findings);
    AddUnknownKeys(path, (*file)["agents"][i], at, /*of_agent=*/true, findings);
  }
  return findings;
}

bool IsConfigProblem(const absl::Status& status) {
  const std::string reason = ReasonOf(status);
  return reason == "CONFIG_INVALID" || reason == "CONFIG_OUTSIDE" ||
         reason == "NO_CONFIG" ||
         (reason == "CONFIG_UNREADABLE" && !absl::IsUnavailable(status));
}

Finding ErrorFinding(const absl::Status& status) {
  Finding finding;
  finding.set_severity(Finding::SEVERITY_ERROR);
  finding.set_message(MessageOf(status));
  finding.set_remedy(
      "Mend the file by hand. Until then calls that need it are refused, and "
      "what is shown is the last good state.");
  return finding;
}

Finding DirectoryFinding(const std::string& path, int position,
                         const absl::Status& status) {
  return Make(Finding::SEVERITY_WARNING, path,
              absl::StrCat("/agents/", position, "/projectDirectory: ") +
                  MessageOf(status),
              "Make that directory, or configure the worker with another one.");
}

Finding CoordinatorFinding(const std::string& path, const std::string& present,
                           const std::string& claimed) {
  return Make(Finding::SEVERITY_WARNING, path,
              "it names session " + IdLabel(claimed) + " as coordinator, and " +
                  IdLabel(present) +
                  " coordinates until a person confirms that",
              "Confirm it with: intercom coordinator take. Or put the present "
              "coordinator's id back.");
}

}  // namespace intercom
