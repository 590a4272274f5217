// intercom-broker: flags, signals and the ready notification.

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "CLI/CLI.hpp"
#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/log.h"
#include "broker/base/random.h"
#include "broker/server/broker_server.h"
#include "broker/server/settings.h"

namespace intercom {
namespace {

int stop_pipe[2];

void OnSignal(int) {
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = write(stop_pipe[1], &byte, 1);
}

// Tells the starter, in one line, how the start went.
void Notify(int descriptor, const std::string& line) {
  if (descriptor < 0) return;
  [[maybe_unused]] const ssize_t written =
      write(descriptor, line.data(), line.size());
  close(descriptor);
}

int Fail(int ready_descriptor, const absl::Status& status) {
  std::string message = MessageOf(status);
  for (char& c : message) {
    if (c == '\n') c = ' ';
  }
  std::string reason = ReasonOf(status);
  if (reason.empty()) reason = "INTERNAL";
  spdlog::error("{} {}", reason, message);
  std::fprintf(stderr, "intercom-broker: %s\n", message.c_str());
  Notify(ready_descriptor, "error " + reason + " " + message + "\n");
  return 1;
}

// A thousand sessions need more descriptors than a shell's default.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, 65536);
  setrlimit(RLIMIT_NOFILE, &limit);
}

int Main(int argc, char** argv) {
  CLI::App app{
      "intercom-broker connects the coding-agent sessions of one user "
      "account. It is started by the first session that needs it; see also: "
      "intercom broker --help"};
  BrokerOptions options;
  options.version = INTERCOM_VERSION;
  double idle_exit = 60;
  std::string overdue;
  int ready_descriptor = -1;
  app.add_option("--home", options.home,
                 "State directory (default: PI_INTERCOM_HOME, else "
                 "~/.local/state/pi-intercom)");
  app.add_option("--workspace", options.workspace,
                 "Mirror the workspace of this directory from the start");
  app.add_option("--port", options.port,
                 "TCP port on 127.0.0.1; 0: any (default: the saved one, else "
                 "any)")
      ->check(CLI::Range(0, 65535));
  app.add_option("--idle-exit", idle_exit,
                 "Leave after so many seconds without sessions and calls; 0: "
                 "never")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--overdue", overdue,
                 "Show a worker's report that awaits an answer as overdue "
                 "after so many seconds; 0: never (default: "
                 "PI_INTERCOM_OVERDUE_SECONDS, else 600)");
  app.add_option("--ready-fd", ready_descriptor,
                 "Write \"ready PORT\" or \"error REASON MESSAGE\" to this "
                 "descriptor");
  app.set_version_flag("--version", INTERCOM_VERSION);
  CLI11_PARSE(app, argc, argv);
  options.idle_exit =
      idle_exit == 0 ? absl::InfiniteDuration() : absl::Seconds(idle_exit);

  LogToStderr();
  const char* overdue_variable = std::getenv(kOverdueVariable);
  const auto overdue_after = OverdueSetting(
      overdue, overdue_variable == nullptr ? "" : overdue_variable);
  if (!overdue_after.ok()) {
    return Fail(ready_descriptor, overdue_after.status());
  }
  options.overdue_after = *overdue_after;
  const auto account_home = AccountHome();
  if (account_home.ok()) options.account_home = *account_home;
  if (options.home.empty()) {
    const auto home = IntercomHome();
    if (!home.ok()) return Fail(ready_descriptor, home.status());
    options.home = *home;
  }
  if (ready_descriptor >= 0) fcntl(ready_descriptor, F_SETFD, FD_CLOEXEC);
  if (pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) != 0) {
    return Fail(ready_descriptor, ErrnoError(errno, "pipe"));
  }
  struct sigaction action {};
  action.sa_handler = OnSignal;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  RaiseDescriptorLimit();
  umask(0077);

  const SystemClock clock;
  SystemRandom random;
  auto broker = BrokerServer::Start(options, clock, random);
  if (!broker.ok()) return Fail(ready_descriptor, broker.status());
  std::printf("ready on 127.0.0.1:%d and %s\n", (*broker)->port(),
              SocketPath(options.home).c_str());
  std::fflush(stdout);
  Notify(ready_descriptor, "ready " + std::to_string((*broker)->port()) + "\n");
  (*broker)->Run(stop_pipe[0]);
  return 0;
}

}  // namespace
}  // namespace intercom

int main(int argc, char** argv) { return intercom::Main(argc, argv); }
