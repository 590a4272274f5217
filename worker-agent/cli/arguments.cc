#include "worker-agent/cli/arguments.h"

#include <sstream>

#include "CLI/CLI.hpp"

namespace intercom {
namespace {

void AddBroker(CLI::App& app, Arguments& arguments) {
  CLI::App* broker = app.add_subcommand("broker", "Control the broker");
  broker->require_subcommand(1);
  CLI::App* start = broker->add_subcommand(
      "start", "Start the broker unless it runs; print its endpoint");
  start->add_option("--workspace", arguments.directory,
                    "Directory to start it for");
  start->callback([&] { arguments.command = Command::kBrokerStart; });
  broker->add_subcommand("stop", "End the broker and wait until it is gone")
      ->callback([&] { arguments.command = Command::kBrokerStop; });
  CLI::App* restart =
      broker->add_subcommand("restart", "Replace the broker, a hung one too");
  restart->add_option("--workspace", arguments.directory,
                      "Directory to start it for");
  restart->callback([&] { arguments.command = Command::kBrokerRestart; });
  broker->add_subcommand("status", "Describe the broker")->callback([&] {
    arguments.command = Command::kBrokerStatus;
  });
  broker->add_subcommand("path", "Print the state directory")->callback([&] {
    arguments.command = Command::kBrokerPath;
  });
}

}  // namespace

ParsedArguments ParseArguments(const std::vector<std::string>& words) {
  Arguments arguments;
  CLI::App app("Talk to the agent sessions of this account", "intercom");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", INTERCOM_VERSION);
  app.add_flag("--json", arguments.json, "Print JSON");
  app.add_option("--home", arguments.home, "State directory")
      ->check([](const std::string& path) {
        return path.starts_with('/') ? "" : "must be an absolute path";
      });

  const auto add_directory = [&arguments](CLI::App* command) {
    command->add_option("--directory,-C", arguments.directory,
                        "A directory of the workspace");
  };

  CLI::App* list = app.add_subcommand("list", "List the workspace's sessions");
  add_directory(list);
  list->add_flag("--all", arguments.all, "List every attached session");
  list->callback([&] { arguments.command = Command::kList; });

  CLI::App* send = app.add_subcommand("send", "Send a message to a session");
  send->add_option("name", arguments.to, "Name or session id")->required();
  send->add_option("text", arguments.text, "The text; - reads standard input")
      ->required();
  send->add_option("--id", arguments.id,
                   "Repeat an earlier attempt under its id");
  add_directory(send);
  send->callback([&] { arguments.command = Command::kSend; });

  CLI::App* status = app.add_subcommand(
      "status", "Where a message is; without an id, the broker");
  status->add_option("id", arguments.id,
                     "Message id, or at least 6 characters of it");
  status->callback([&] { arguments.command = Command::kStatus; });

  CLI::App* history = app.add_subcommand("history", "List recent messages");
  history->add_option("--limit", arguments.limit, "Most messages to show")
      ->check(CLI::Range(1, 200));
  add_directory(history);
  history->add_flag("--all", arguments.all, "Of every workspace");
  history->callback([&] { arguments.command = Command::kHistory; });

  AddBroker(app, arguments);
  app.add_subcommand("version", "Print the version")->callback([&] {
    arguments.command = Command::kVersion;
  });

  std::vector<std::string> reversed(words.rbegin(), words.rend());
  ParsedArguments parsed;
  try {
    app.parse(reversed);
    parsed.arguments = arguments;
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    std::ostringstream err;
    const int code = app.exit(error, out, err);
    parsed.output = out.str();
    parsed.error = err.str();
    parsed.exit_code = code == 0 ? kExitOk : kExitUsage;
  }
  return parsed;
}

}  // namespace intercom
