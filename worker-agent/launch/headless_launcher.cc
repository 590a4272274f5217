#include <unistd.h>

#include <sstream>
#include <string>
#include <utility>

#include "broker/base/error.h"
#include "broker/domain/fence.h"
#include "worker-agent/launch/launchers.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {
namespace {

constexpr char kReady[] = "ready ";

// What the hosting process said: "ready PID HOST_PID JOB SOCKET".
bool ParseReady(const std::string& line, Launch& launch, int64_t& host_pid) {
  if (!line.starts_with(kReady)) return false;
  std::istringstream words(line.substr(sizeof(kReady) - 1));
  int64_t pid = 0;
  std::string job, socket;
  if (!(words >> pid >> host_pid >> job) ||
      !std::getline(words >> std::ws, socket)) {
    return false;
  }
  launch.pane.set_launcher(kHeadlessLauncher);
  launch.pane.set_pid(pid);
  launch.pane.set_pane(job);
  launch.pane.set_server(socket);
  return true;
}

}  // namespace

std::string HeadlessSocketPath(const std::string& home,
                               const std::string& job_id) {
  return home + "/headless/" + job_id + ".sock";
}

Launch LaunchHeadless(const std::string& launch_file,
                      const LaunchTools& tools) {
  Environment environment =
      WithoutSession(tools.around.environment, NotInherited(""));
  // It stays when this session and what guards it end.
  environment["PI_INTERCOM_OUTLIVES"] = "1";
  const auto output =
      tools.runner.With(std::move(environment))
          .Run({tools.around.agent_path, "--headless", launch_file});
  if (!output.ok()) return NotLaunched(LaunchFailed(output.status()));
  Launch launch;
  int64_t host_pid = 0;
  const std::string line = output->out.substr(0, output->out.find('\n'));
  if (output->exit_code != 0 || !ParseReady(line, launch, host_pid)) {
    const std::string said = output->out + output->err;
    return NotLaunched(LaunchFailed(
        said.empty() ? "the process that was to host it ended without a word"
                     : SafeLabel(said, 600)));
  }
  SetHost(launch, host_pid);
  const absl::StatusOr<int> connected = ConnectSocket(launch.pane.server());
  if (connected.ok()) close(*connected);
  if (absl::IsNotFound(connected.status()) || launch.host_pid == 0) {
    launch.status = LaunchFailed("the host ended as soon as it was started; " +
                                 SafeLabel(tools.around.home, 200) +
                                 "/logs/headless.log says why");
  }
  launch.detail = "without a pane; see its output with: intercom view " +
                  SafeLabel(launch.pane.pane());
  return launch;
}

}  // namespace intercom
