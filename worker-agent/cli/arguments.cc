#include "worker-agent/cli/arguments.h"

#include <algorithm>
#include <sstream>

#include "CLI/CLI.hpp"
#include "broker/domain/fence.h"
#include "worker-agent/cli/command_options.h"
#include "worker-agent/cli/command_table.h"
#include "worker-agent/cli/failure.h"

namespace intercom {
namespace {

// The parser of a group's commands.
CLI::App* GroupOf(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> known = app.get_subcommands(
      [&name](CLI::App* one) { return one->get_name() == name; });
  if (!known.empty()) return known.front();
  std::string summary;
  for (const CommandGroup& group : CommandGroups()) {
    if (group.name == name) summary = group.summary;
  }
  CLI::App* group = app.add_subcommand(name, summary);
  group->require_subcommand(1);
  return group;
}

void Declare(CLI::App& app, const CommandSpec& spec, Arguments& arguments) {
  const size_t space = spec.name.find(' ');
  CLI::App& parent = space == std::string::npos
                         ? app
                         : *GroupOf(app, spec.name.substr(0, space));
  CLI::App* command = parent.add_subcommand(
      space == std::string::npos ? spec.name : spec.name.substr(space + 1),
      spec.summary);
  if (spec.hidden) command->group("");
  if (spec.declare) spec.declare(*command, arguments);
  // Of a command that has others, only where none of them was typed.
  command->callback([&arguments, &spec, command] {
    if (command->get_subcommands().empty()) arguments.command = spec.name;
  });
}

// Whether JSON is wanted, as far as can be told of words that can't be parsed.
bool WantsJson(const std::vector<std::string>& words) {
  const auto end = std::find(words.begin(), words.end(), "--");
  return std::find(words.begin(), end, "--json") != end;
}

}  // namespace

std::unique_ptr<CLI::App> MakeParser(Arguments& arguments) {
  auto app = std::make_unique<CLI::App>(
      "Talk to the agent sessions of this account", "intercom");
  app->require_subcommand(1);
  app->fallthrough();
  app->footer(
      "Exit codes: 0 done, 1 refused or failed, 2 misuse, 3 the broker is not "
      "running,\n4 a wait ended without an answer.");
  app->set_version_flag("--version", INTERCOM_VERSION);
  app->add_flag("--json", arguments.json,
                "Print JSON; intercom schema says of what shape. A "
                "failure is one line of JSON on standard error");
  app->add_option("--home", arguments.home, "State directory")
      ->type_name(kDirectoryType)
      ->check([](const std::string& path) {
        return path.starts_with('/') ? "" : "must be an absolute path";
      });
  for (const CommandSpec& spec : AllCommands()) Declare(*app, spec, arguments);
  return app;
}

ParsedArguments ParseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  const std::unique_ptr<CLI::App> app = MakeParser(arguments);
  std::vector<std::string> reversed(words.rbegin(), words.rend());
  ParsedArguments parsed;
  for (size_t i = 0; i < words.size(); ++i) {
    if (CountCharacters(words[i]).has_value()) continue;
    parsed.error = "Argument " + std::to_string(i + 1) +
                   " is not UTF-8; nothing was done\n";
    parsed.exit_code = kExitUsage;
    if (WantsJson(words)) parsed.error = MisuseText(parsed.error);
    return parsed;
  }
  try {
    app->parse(reversed);
    parsed.arguments = arguments;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app->exit(error, out, err);
    parsed.output = out.str();
    parsed.error = err.str();
    // A command is missing: what could not be placed was meant for one.
    if (const auto left = app->remaining(/*recurse=*/true);
        !left.empty() &&
        dynamic_cast<const CLI::RequiredError*>(&error) != nullptr) {
      parsed.error = "There is no command " + QuotedLine(left.front()) +
                     "\nRun with --help for more information.\n";
    }
    parsed.exit_code = code == 0 ? kExitOk : kExitUsage;
    if (code != 0 && WantsJson(words)) parsed.error = MisuseText(parsed.error);
  }
  return parsed;
}

}  // namespace intercom
