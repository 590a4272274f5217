#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_OPTIONS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_OPTIONS_H_

#include "CLI/CLI.hpp"
#include "worker-agent/cli/arguments.h"

namespace intercom {

// Options that several commands have.

// What a value is called in the help: what completes it goes by that.
inline constexpr char kSessionType[] = "SESSION";
inline constexpr char kDirectoryType[] = "DIRECTORY";
inline constexpr char kCommandType[] = "COMMAND";

// -w, --workspace, -C, --directory.
void AddDirectory(CLI::App& command, Arguments& arguments);
// --all, said to be `of_what`.
void AddAll(CLI::App& command, Arguments& arguments, const char* of_what);
// --limit, 1 to `most`. The default is that of `arguments`.
void AddLimit(CLI::App& command, Arguments& arguments, int most);
// The operand `name`, to whom something is sent.
void AddRecipient(CLI::App& command, Arguments& arguments);
// The operand `text`, where - stands for standard input.
void AddText(CLI::App& command, Arguments& arguments);
// --id: repeats an earlier attempt.
void AddEnvelopeId(CLI::App& command, Arguments& arguments);
// The required operand `id` of a message.
void AddMessageId(CLI::App& command, Arguments& arguments);
// --session, a name or an id.
void AddSession(CLI::App& command, Arguments& arguments, const char* help);
// --state: states and ends of deliveries.
void AddStates(CLI::App& command, Arguments& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMMAND_OPTIONS_H_
