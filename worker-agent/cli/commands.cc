#include "worker-agent/cli/commands.h"

#include <ostream>
#include <string>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/cli/broker_client.h"
#include "worker-agent/cli/command_context.h"
#include "worker-agent/cli/command_table.h"
#include "worker-agent/cli/failure.h"

namespace intercom {
namespace {

absl::Status Run(const Arguments& arguments, std::istream& in,
                 std::ostream& out, std::ostream& err,
                 const Terminal& terminal) {
  const CommandSpec* command = FindCommand(arguments.command);
  if (command == nullptr) {
    return Error(absl::StatusCode::kInvalidArgument, "UNKNOWN_COMMAND",
                 "there is no command " + QuotedLine(arguments.command));
  }
  if (arguments.json && command->output == nullptr) {
    return Error(absl::StatusCode::kUnimplemented, "JSON_UNSUPPORTED",
                 "intercom " + command->name +
                     " has nothing to print as JSON; leave --json out. "
                     "intercom schema lists the commands that have");
  }
  std::string home = arguments.home;
  if (home.empty()) {
    INTERCOM_ASSIGN_OR_RETURN(home, IntercomHome());
  }
  const SystemClock clock;
  BrokerClient client(home);
  const CommandContext context{arguments, home, client, in,
                               out,       err,  clock,  terminal};
  if (!CountCharacters(context.Directory()).has_value()) {
    return Error(absl::StatusCode::kInvalidArgument, "DIRECTORY_INVALID",
                 "the name of the present directory is not UTF-8; nothing was "
                 "done");
  }
  INTERCOM_RETURN_IF_ERROR(command->run(context));
  if (out.flush()) return absl::OkStatus();
  return Error(absl::StatusCode::kUnavailable, "OUTPUT_FAILED",
               "standard output takes nothing: what was to be shown is lost; "
               "what the command did stands");
}

int ExitCodeOf(const absl::Status& status) {
  if (status.ok()) return kExitOk;
  const std::string reason = ReasonOf(status);
  if (reason == "BROKER_NOT_RUNNING") return kExitNotRunning;
  return reason == "NO_ANSWER" || reason == "WAIT_ENDED" ? kExitNoAnswer
                                                         : kExitFailed;
}

}  // namespace

int RunCommand(const Arguments& arguments, std::istream& in, std::ostream& out,
               std::ostream& err, const Terminal& terminal) {
  const absl::Status status = Run(arguments, in, out, err, terminal);
  if (!status.ok()) {
    err << FailureText(status, arguments.json);
  }
  return ExitCodeOf(status);
}

}  // namespace intercom
