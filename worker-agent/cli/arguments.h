#ifndef PI_INTERCOM_WORKER_AGENT_CLI_ARGUMENTS_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_ARGUMENTS_H_

#include <optional>
#include <string>
#include <vector>

namespace intercom {

enum class Command {
  kList,
  kSend,
  kStatus,
  kHistory,
  kWorkers,
  kJobs,
  kJobShow,
  kJobResolve,
  kCoordinatorTake,
  kObservations,
  kView,
  kMonitor,
  kBrokerStart,
  kBrokerStop,
  kBrokerRestart,
  kBrokerStatus,
  kBrokerPath,
  kVersion,
};

// What a person typed.
struct Arguments {
  Command command = Command::kVersion;
  // Output is protobuf JSON.
  bool json = false;
  // The state directory; empty means the account's.
  std::string home;
  // Of the workspace; empty means the present directory.
  std::string directory;
  // list, monitor: every attachment, history: every message, jobs: every job, instead of
  // the workspace.
  bool all = false;
  // workers: ask the sessions on the spot.
  bool probe = false;
  // workers, view: one of them. observations: of one session.
  std::string session;
  // view: stay until the worker ends.
  bool follow = true;
  std::string to;
  std::string text;
  // send: the envelope id of an earlier attempt. status, job: what to look up.
  std::string id;
  int limit = 20;
};

// Exit codes.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNotRunning = 3;

// The result of parsing: arguments, or what to print and the exit code.
struct ParsedArguments {
  std::optional<Arguments> arguments;
  std::string output;
  std::string error;
  int exit_code = kExitOk;
};

// `words` are the arguments without the program's name.
ParsedArguments ParseArguments(const std::vector<std::string>& words);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_ARGUMENTS_H_
