#ifndef PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_TREE_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_TREE_H_

#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace intercom {

// What can be typed, as the scripts that complete it need it.

// What a value may be: one of these, or words with commas between them.
inline constexpr char kAnything[] = "-";
inline constexpr char kSessions[] = "@sessions";
inline constexpr char kDirectories[] = "@directories";

struct TypedOption {
  // With their dashes.
  std::vector<std::string> names;
  std::string summary;
  // What its value may be; empty: it takes none.
  std::string value;
};

struct TypedCommand {
  // The words that lead here: "" for the program itself, "job show".
  std::string path;
  std::string summary;
  // The last words of the commands below it.
  std::vector<std::string> commands;
  // With those of the program.
  std::vector<TypedOption> options;
  // What each operand may be.
  std::vector<std::string> operands;
};

// The program first, a group before its commands. Without what is hidden.
std::vector<TypedCommand> TypedCommands(const CLI::App& parser);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_COMPLETION_TREE_H_
