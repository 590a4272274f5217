#include "worker-agent/cli/completion_command.h"

#include <ostream>
#include <set>
#include <string>

#include "CLI/CLI.hpp"
#include "broker/domain/fence.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/completion_scripts.h"

namespace intercom {
namespace {

// Somebody has pressed a key and waits.
constexpr absl::Duration kQuick = absl::Milliseconds(500);
constexpr size_t kLongestName = 256;

absl::Status PrintScript(const CommandContext& context) {
  Arguments unused;
  const auto parser = MakeParser(unused);
  const std::string& shell = context.arguments.shell;
  context.out << (shell == "bash"  ? BashCompletion(*parser)
                  : shell == "zsh" ? ZshCompletion(*parser)
                                   : FishCompletion(*parser));
  return absl::OkStatus();
}

// Whether a line with `name` is what a person can type for it.
bool IsTypeable(const std::string& name) {
  return !name.empty() && name[0] != '-' &&
         SafeLabel(name, kLongestName) == name;
}

// One name a line, or the id of who has none that can be typed. Starts no
// broker; says nothing if none answers.
absl::Status PrintSessions(const CommandContext& context) {
  BrokerClient client(context.home, kQuick);
  const auto response = client.ListSessions(v1::ListSessionsRequest());
  if (!response.ok()) return absl::OkStatus();
  std::set<std::string> names;
  for (const v1::RosterEntry& entry : response->sessions()) {
    for (const std::string& name :
         {entry.name(), entry.runtime_name(), entry.session_id()}) {
      if (!IsTypeable(name)) continue;
      names.insert(name);
      break;
    }
  }
  for (const std::string& name : names) context.out << name << "\n";
  return absl::OkStatus();
}

void Declare(CLI::App& command, Arguments& arguments) {
  command.add_option("shell", arguments.shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
}

}  // namespace

std::vector<CommandSpec> CompletionCommands() {
  CommandSpec sessions{"complete-sessions",
                       "Print the names of sessions, for completion", nullptr,
                       PrintSessions};
  sessions.hidden = true;
  return {{"completion", "Print a script that completes commands in a shell",
           Declare, PrintScript},
          sessions};
}

}  // namespace intercom
