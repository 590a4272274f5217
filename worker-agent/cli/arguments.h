#ifndef PI_INTERCOM_WORKER_AGENT_CLI_ARGUMENTS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace intercom {

// What a person typed.
struct Arguments {
  // Which command it is, as the table of commands names it.
  std::string command;
  // Output is protobuf JSON.
  bool json = false;
  // The state directory; empty means the account's.
  std::string home;
  // Of the workspace; empty means the present directory.
  std::string directory;
  // Of every workspace, or what else is more than the usual.
  bool all = false;
  // workers: ask the sessions on the spot.
  bool probe = false;
  // workers, view: one of them. Elsewhere: only what is of that session.
  std::string session;
  // view: stay until the worker ends.
  bool follow = true;
  // sessions: those that are away, too.
  bool away = false;
  // runs: only open ones. deliveries: only those that wait.
  bool open = false;
  std::string to;
  std::string text;
  // send, ask, reply: the envelope id of an earlier attempt. status, job: what
  // to look up.
  std::string id;
  // reply: what is answered.
  std::string answered;
  // ask: wait for the answer, which is wanted within this; empty: the usual.
  bool wait = true;
  std::string timeout;
  // inbox: leave what is shown unread.
  bool peek = false;
  // history: what is looked for.
  std::string containing;
  std::string since;
  std::string until;
  std::vector<std::string> states;
  std::vector<std::string> kinds;
  // schema: of which command.
  std::vector<std::string> words;
  // completion: for which.
  std::string shell;
  int limit = 20;
  // history export: where to, - for standard output; only greater sequences.
  std::string file;
  int64_t after = 0;
  // doctor: the file to write.
  std::string bundle;
};

// Exit codes.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotRunning = 3;
// A wait ended without an answer.
inline constexpr int kExitNoAnswer = 4;

// The result of parsing: arguments, or what to print and the exit code.
struct ParsedArguments {
  std::optional<Arguments> arguments;
  std::string output;
  std::string error;
  int exit_code = kExitOk;
};

// `words` are the arguments without the program's name.
ParsedArguments ParseArguments(const std::vector<std::string>& words);

// The parser that the table of commands makes, which reads into `arguments`:
// what there is to be typed, for those who tell of it.
std::unique_ptr<CLI::App> MakeParser(Arguments& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_ARGUMENTS_H_
