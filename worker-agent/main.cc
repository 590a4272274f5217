#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "CLI/CLI.hpp"
#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/log.h"
#include "broker/base/random.h"
#include "worker-agent/agent.h"
#include "worker-agent/guard/guard.h"
#include "worker-agent/headless/headless.h"
#include "worker-agent/host/private_stdout.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/launched_host.h"
#include "worker-agent/launch_room.h"
#include "worker-agent/link/broker_starter.h"
#include "worker-agent/link/event_loop.h"
#include "worker-agent/tools/reference.h"

namespace intercom {
namespace {

constexpr int kFlushMilliseconds = 200;

struct Flags {
  bool tcp = false;
  std::string home;
  std::string log_level = "info";
};

// Signals that end the agent are taken by a thread of their own.
sigset_t BlockSignals() {
  signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    sigaddset(&signals, number);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

// Where this process runs.
Surroundings Around(const std::string& home) {
  Surroundings around;
  around.environment = OwnEnvironment();
  std::error_code error;
  around.agent_path = std::filesystem::read_symlink("/proc/self/exe", error);
  around.home = home;
  return around;
}

// Runs what blocks. Ends with the process.
class Blocking {
 public:
  explicit Blocking(const Clock& clock) : loop_(clock) {}
  TaskRunner& runner() { return loop_; }

 private:
  EventLoop loop_;
  std::thread thread_{[this] { loop_.Run(); }};
};

int Run(const Flags& flags) {
  const absl::StatusOr<int> out = TakeStdout();
  LogToStderr();
  spdlog::set_level(spdlog::level::from_str(flags.log_level));
  if (!out.ok()) {
    SPDLOG_ERROR("{}", MessageOf(out.status()));
    return 1;
  }
  std::string home = flags.home;
  if (home.empty()) {
    const absl::StatusOr<std::string> found = IntercomHome();
    if (!found.ok()) {
      SPDLOG_ERROR("{}", MessageOf(found.status()));
      return 1;
    }
    home = *found;
  }
  const sigset_t signals = BlockSignals();
  const SystemClock clock;
  SystemRandom random;
  const Surroundings around = Around(home);
  const auto workspace = around.environment.find("PI_INTERCOM_WORKSPACE");
  EventLoop loop(clock);
  Blocking starting(clock);
  Blocking launching(clock);
  Blocking panes(clock);
  Agent agent(
      {.link = {.home = home, .tcp = flags.tcp},
       .workspace_root =
           workspace == around.environment.end() ? "" : workspace->second},
      STDIN_FILENO, *out,
      {.agent = loop,
       .starting = starting.runner(),
       .launching = launching.runner(),
       .panes = panes.runner()},
      clock, random,
      [home](const std::string& cwd) {
        return BrokerStarter({.home = home, .workspace = cwd}).Ensure();
      },
      RealLaunchRoom(around), [&loop] { loop.Quit(); });
  std::thread signal_thread([&] {
    int number = 0;
    sigwait(&signals, &number);
    loop.PostTask([&] { agent.Leave(v1::Goodbye::REASON_HOST_GONE); });
  });
  loop.Run();
  agent.Flush(kFlushMilliseconds);
  SPDLOG_INFO("ended");
  // Threads may still wait for a broker, a signal or the host. Nothing of this
  // process is needed any more.
  std::_Exit(0);
}

}  // namespace
}  // namespace intercom

int main(int argc, char** argv) {
  // Its words are another program's and mean nothing here.
  if (const auto guard = intercom::GuardOrderOf({argv + 1, argv + argc})) {
    return intercom::RunGuard(*guard);
  }
  intercom::Flags flags;
  CLI::App app("Links one agent session to the intercom broker");
  app.set_version_flag("--version", INTERCOM_VERSION);
  app.add_flag("--tcp", flags.tcp, "Attach over TCP instead of the socket");
  app.add_option("--home", flags.home, "State directory")
      ->check([](const std::string& path) {
        return path.starts_with('/') ? "" : "must be an absolute path";
      });
  app.add_option("--log-level", flags.log_level, "debug, info, warn or error");
  bool print_tools = false;
  app.add_flag("--print-tools", print_tools,
               "Print the tools as a Markdown table and exit");
  std::string launch_file;
  app.add_option("--launch", launch_file,
                 "Become the host that a launch file orders");
  std::string headless_file;
  app.add_option("--headless", headless_file,
                 "Host, without a pane, the session that a launch file orders");
  CLI11_PARSE(app, argc, argv);
  if (!launch_file.empty()) return intercom::BecomeHost(launch_file);
  if (!headless_file.empty()) return intercom::HostHeadless(headless_file);
  if (print_tools) {
    std::fputs(intercom::ToolReference().c_str(), stdout);
    return 0;
  }
  return intercom::Run(flags);
}
