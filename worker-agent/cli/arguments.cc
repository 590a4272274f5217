#include "worker-agent/cli/arguments.h"

#include <functional>
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

using AddDirectory = std::function<void(CLI::App*)>;

void AddWork(CLI::App& app, Arguments& arguments,
             const AddDirectory& add_directory) {
  CLI::App* workers = app.add_subcommand(
      "workers", "What is known of the workspace's workers, and how old it is");
  workers->add_option("name", arguments.session, "One worker");
  add_directory(workers);
  workers->add_flag("--probe", arguments.probe,
                    "Ask the attached ones on the spot");
  workers->callback([&] { arguments.command = Command::kWorkers; });

  CLI::App* view = app.add_subcommand(
      "view", "See what a headless worker does, until it ends or Ctrl-C");
  view->add_option("name", arguments.session,
                   "Name, session id or the beginning of one, or job id")
      ->required();
  view->add_flag_callback(
      "--no-follow", [&arguments] { arguments.follow = false; },
      "Print what there is and end");
  add_directory(view);
  view->callback([&] { arguments.command = Command::kView; });

  CLI::App* monitor = app.add_subcommand(
      "monitor", "Watch the workspace's sessions on the whole screen");
  add_directory(monitor);
  monitor->add_flag("--all", arguments.all, "Of every workspace");
  monitor->callback([&] { arguments.command = Command::kMonitor; });

  CLI::App* jobs =
      app.add_subcommand("jobs", "List jobs: launches, stops and closes");
  add_directory(jobs);
  jobs->add_flag("--all", arguments.all, "Of every workspace");
  jobs->add_option("--limit", arguments.limit, "Most jobs to show")
      ->check(CLI::Range(1, 200));
  jobs->callback([&] { arguments.command = Command::kJobs; });

  CLI::App* job = app.add_subcommand("job", "Look at one job, or end it");
  job->require_subcommand(1);
  const auto add_job = [&](const char* name, const char* description,
                           Command command) {
    CLI::App* added = job->add_subcommand(name, description);
    added
        ->add_option("id", arguments.id,
                     "Job id, or at least 6 characters of it")
        ->required();
    added->callback([&arguments, command] { arguments.command = command; });
  };
  add_job("show", "Show a job and what is known of its worker",
          Command::kJobShow);
  add_job("resolve",
          "End a job whose outcome is uncertain, after a look at the evidence",
          Command::kJobResolve);

  CLI::App* coordinator =
      app.add_subcommand("coordinator", "Decide who coordinates a workspace");
  coordinator->require_subcommand(1);
  CLI::App* take = coordinator->add_subcommand(
      "take", "Confirm the coordinator that the config names");
  add_directory(take);
  take->callback([&] { arguments.command = Command::kCoordinatorTake; });

  CLI::App* observations = app.add_subcommand(
      "observations", "What the broker saw of sessions and did with them");
  observations->add_option("--session", arguments.session,
                           "Session id; of all without it");
  observations->add_option("--limit", arguments.limit, "Most rows to show")
      ->check(CLI::Range(1, 500));
  observations->callback([&] { arguments.command = Command::kObservations; });
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

  AddWork(app, arguments, add_directory);
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
