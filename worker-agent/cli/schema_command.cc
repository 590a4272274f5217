#include "worker-agent/cli/schema_command.h"

#include <ostream>
#include <string>

#include "CLI/CLI.hpp"
#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "intercom/v1/cli.pb.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/json_schema.h"
#include "worker-agent/tools/text_table.h"

namespace intercom {
namespace {

absl::Status ListOutputs(const CommandContext& context) {
  v1::CommandOutputs outputs;
  TextTable table({"COMMAND", "JSON"});
  for (const CommandSpec& command : AllCommands()) {
    if (command.hidden) continue;
    v1::CommandOutput& output = *outputs.add_commands();
    output.set_command(command.name);
    if (command.output != nullptr) {
      output.set_message(command.output->full_name());
    }
    table.AddRow(
        {command.name, command.output == nullptr ? "none" : output.message()});
    if (command.other_output == nullptr) continue;
    output.set_other_message(command.other_output->full_name());
    output.set_other_when(command.other_when);
    table.AddRow(
        {"", output.other_message() + " (" + command.other_when + ")"});
  }
  return context.Print(outputs, table.ToString());
}

absl::Status Schema(const CommandContext& context) {
  if (context.arguments.words.empty()) return ListOutputs(context);
  std::string name;
  for (const std::string& word : context.arguments.words) {
    name += (name.empty() ? "" : " ") + word;
  }
  const CommandSpec* command = FindCommand(name);
  if (command == nullptr) {
    return Error(absl::StatusCode::kNotFound, "UNKNOWN_COMMAND",
                 "there is no command " + QuotedLine(name) +
                     "; intercom schema lists them");
  }
  if (command->output == nullptr) {
    return Error(absl::StatusCode::kUnimplemented, "JSON_UNSUPPORTED",
                 "intercom " + name + " has nothing to print as JSON");
  }
  context.out << JsonSchemaOf(*command);
  return absl::OkStatus();
}

void Declare(CLI::App& command, Arguments& arguments) {
  command
      .add_option("command", arguments.words,
                  "Such as: job show; without one, the commands and what each "
                  "prints are listed")
      ->type_name(kCommandType);
}

}  // namespace

std::vector<CommandSpec> SchemaCommands() {
  return {{"schema", "Describe what a command prints with --json, by a schema",
           Declare, Schema, v1::CommandOutputs::descriptor()}};
}

}  // namespace intercom
