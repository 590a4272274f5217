#include "worker-agent/launch/launched_host.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/launch_file.h"

extern char** environ;

namespace intercom {
namespace {

constexpr int kExitCode = 127;
constexpr int kLookMilliseconds = 10 * 60 * 1000;

absl::Status Refused(const std::string& why) {
  return Error(absl::StatusCode::kFailedPrecondition, "LAUNCH_FAILED", why);
}

// Returns only if it failed.
absl::Status Follow(const std::string& launch_file) {
  INTERCOM_ASSIGN_OR_RETURN(LaunchOrder order, TakeLaunchFile(launch_file));
  if (chdir(order.directory.c_str()) != 0) {
    return Refused("the directory " + order.directory +
                   " can't be entered: " + std::strerror(errno));
  }
  Environment environment = OwnEnvironment();
  for (const std::string& name : order.unset) environment.erase(name);
  environment["PWD"] = order.directory;
  for (const auto& [name, value] : order.environment) environment[name] = value;
  INTERCOM_ASSIGN_OR_RETURN(const std::string program,
                            FindProgram(order.argv[0], environment));
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  std::vector<char*> argv, envp;
  for (std::string& word : order.argv) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  execve(program.c_str(), argv.data(), envp.data());
  return Refused(program + " can't be run: " + std::strerror(errno));
}

// Until a key is pressed or the terminal goes away.
void AwaitKey() {
  termios before;
  if (isatty(STDIN_FILENO) == 0 || tcgetattr(STDIN_FILENO, &before) != 0) {
    return;
  }
  std::printf("Press any key to close.\n");
  std::fflush(stdout);
  termios now = before;
  now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  tcsetattr(STDIN_FILENO, TCSANOW, &now);
  pollfd keys{STDIN_FILENO, POLLIN, 0};
  poll(&keys, 1, kLookMilliseconds);
  tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
}

}  // namespace

int BecomeHost(const std::string& launch_file) {
  const absl::Status failed = Follow(launch_file);
  std::printf("intercom: this session could not be started: %s.\n",
              StripControls(MessageOf(failed)).c_str());
  std::fflush(stdout);
  AwaitKey();
  return kExitCode;
}

}  // namespace intercom
