#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_TABLE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_TABLE_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "google/protobuf/descriptor.h"
#include "worker-agent/cli/arguments.h"
#include "worker-agent/cli/command_context.h"

namespace CLI {
class App;
}  // namespace CLI

namespace intercom {

// A command: all that parsing, running, help and whatever else tells of
// commands is made from.
struct CommandSpec {
  // As it is typed: "list", "job show".
  std::string name;
  // One line for a person.
  std::string summary;
  // Declares its options and operands, which are read into `arguments`. Null
  // for none.
  std::function<void(CLI::App& command, Arguments& arguments)> declare;
  // Writes to standard output only when it succeeds, unless it says otherwise.
  std::function<absl::Status(const CommandContext& context)> run;
  // What it prints with --json, in proto3's JSON; null: it refuses --json.
  const google::protobuf::Descriptor* output = nullptr;
  // What it prints instead, and when; null for none.
  const google::protobuf::Descriptor* other_output = nullptr;
  std::string other_when = "";
  // For other programs: not in the help, nor in what tells of commands.
  bool hidden = false;
};

// The first word of commands that have two.
struct CommandGroup {
  std::string name;
  std::string summary;
};

// In the order of the help. Both live as long as the process.
const std::vector<CommandSpec>& AllCommands();
const std::vector<CommandGroup>& CommandGroups();

// nullptr for none.
const CommandSpec* FindCommand(std::string_view name);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_TABLE_H_
