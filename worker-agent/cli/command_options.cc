#include "worker-agent/cli/command_options.h"

#include "worker-agent/cli/words.h"

namespace intercom {

void AddDirectory(CLI::App& command, Arguments& arguments) {
  command
      .add_option("-w,--workspace,-C,--directory", arguments.directory,
                  "A directory of the workspace; default: the present one")
      ->type_name(kDirectoryType);
}

void AddAll(CLI::App& command, Arguments& arguments, const char* of_what) {
  command.add_flag("--all", arguments.all, of_what);
}

void AddLimit(CLI::App& command, Arguments& arguments, int most) {
  command
      .add_option(
          "--limit", arguments.limit,
          "Most of them to show; default: " + std::to_string(arguments.limit))
      ->check(CLI::Range(1, most));
}

void AddRecipient(CLI::App& command, Arguments& arguments) {
  command
      .add_option("name", arguments.to,
                  "Name or session id: in the workspace, else of any session "
                  "of the account")
      ->required()
      ->type_name(kSessionType);
}

void AddText(CLI::App& command, Arguments& arguments) {
  command
      .add_option("text", arguments.text, "The text; - reads standard input")
      ->required();
}

void AddEnvelopeId(CLI::App& command, Arguments& arguments) {
  command.add_option("--id", arguments.id,
                     "Repeat an earlier attempt under its id");
}

void AddMessageId(CLI::App& command, Arguments& arguments) {
  command
      .add_option("id", arguments.id,
                  "Message id, or at least 6 characters of it")
      ->required();
}

void AddSession(CLI::App& command, Arguments& arguments, const char* help) {
  command.add_option("--session", arguments.session, help)
      ->type_name(kSessionType);
}

void AddStates(CLI::App& command, Arguments& arguments) {
  command
      .add_option("--state", arguments.states,
                  "Only those whose furthest state this is, or that ended so; "
                  "several with commas: " +
                      JoinWords(StateWords()))
      ->delimiter(',')
      ->check(CLI::IsMember(StateWords()));
}

}  // namespace intercom
