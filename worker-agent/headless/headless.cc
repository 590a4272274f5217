#include "worker-agent/headless/headless.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/log.h"
#include "broker/base/random.h"
#include "broker/base/status_macros.h"
#include "broker/domain/fence.h"
#include "worker-agent/guard/guarded_process.h"
#include "worker-agent/guard/process_tree.h"
#include "worker-agent/headless/hosted_session.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/launch_file.h"
#include "worker-agent/launch/private_directory.h"
#include "worker-agent/launch/unix_socket.h"

extern char** environ;

namespace intercom {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(2);

absl::Status Invalid(const std::string& why) {
  return Error(absl::StatusCode::kFailedPrecondition, "LAUNCH_INVALID", why);
}

// What the host gets: this process's variables without those that are not its
// own, and those of the order.
Environment EnvironmentOf(const LaunchOrder& order, const std::string& socket) {
  Environment all = OwnEnvironment();
  for (const std::string& name : order.unset) all.erase(name);
  all.erase(kGuardsVariable);
  all.erase(kOutlivesVariable);
  for (const auto& [name, value] : order.environment) all[name] = value;
  all["PWD"] = order.directory;
  all[kHeadlessSocketVariable] = socket;
  return all;
}

// Sockets of hosts that were killed.
void RemoveStaleSockets(const std::string& directory) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at(directory, failed), end;
       !failed && at != end; at.increment(failed)) {
    if (at->path().extension() == ".sock" && !SomebodyListens(at->path())) {
      unlink(at->path().c_str());
    }
  }
}

// Log, descriptors and directory of a process that nobody waits for.
absl::Status Settle(const std::string& home, int keep) {
  setsid();
  signal(SIGPIPE, SIG_IGN);
  umask(077);
  if (keep > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, keep - 1, 0);
  close_range(keep + 1, ~0U, 0);
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null_fd < 0) return ErrnoError(errno, "/dev/null");
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(null_fd, stream);
  }
  if (null_fd > STDERR_FILENO) close(null_fd);
  if (chdir("/") != 0) return ErrnoError(errno, "/");
  INTERCOM_RETURN_IF_ERROR(MakePrivateDirectory(home + "/headless"));
  std::error_code ignored;
  std::filesystem::create_directory(LogDirectory(home), ignored);
  return OpenLogFile(LogDirectory(home) + "/headless.log");
}

absl::StatusOr<HostedSession> Begin(const LaunchOrder& order, int ready_fd) {
  const std::string home = ValueOf(order.environment, "PI_INTERCOM_HOME");
  const std::string job = ValueOf(order.environment, "PI_INTERCOM_JOB_ID");
  if (!home.starts_with('/') || job.empty() ||
      job.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz"
                            "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") !=
          std::string::npos) {
    return Invalid(
        "the launch names no state directory, or no job; nothing was started. "
        "Launch the worker anew");
  }
  INTERCOM_RETURN_IF_ERROR(Settle(home, ready_fd));
  RemoveStaleSockets(home + "/headless");
  const std::string socket = HeadlessSocketPath(home, job);
  if (SomebodyListens(socket)) {
    return Error(absl::StatusCode::kAlreadyExists, "LAUNCH_USED",
                 "job " + job +
                     " has a headless host already; nothing was started. "
                     "intercom view shows what that one does");
  }
  GuardedCommand command;
  std::error_code error;
  command.agent_path = std::filesystem::read_symlink("/proc/self/exe", error);
  command.argv = order.argv;
  command.directory = order.directory;
  command.environment = EnvironmentOf(order, socket);
  command.has_input = true;
  command.grace = kGrace;
  INTERCOM_ASSIGN_OR_RETURN(command.argv[0],
                            FindProgram(order.argv[0], command.environment));
  SystemRandom random;
  command.id = NewUuid(random);
  return HostedSession::Start(command, socket);
}

void Say(int fd, const std::string& line) {
  if (write(fd, line.data(), line.size()) < 0) return;
}

// In the hosting process.
int Host(const LaunchOrder& order, int ready_fd) {
  absl::StatusOr<HostedSession> session = Begin(order, ready_fd);
  if (!session.ok()) {
    SPDLOG_ERROR("{}", MessageOf(session.status()));
    Say(ready_fd, "error " + StripControls(MessageOf(session.status())) + "\n");
    close(ready_fd);
    return 1;
  }
  Say(ready_fd, "ready " + std::to_string(getpid()) + " " +
                    std::to_string(session->host_pid()) + " " +
                    ValueOf(order.environment, "PI_INTERCOM_JOB_ID") + " " +
                    session->socket() + "\n");
  close(ready_fd);
  return session->Run();
}

}  // namespace

int HostHeadless(const std::string& launch_file) {
  const absl::StatusOr<LaunchOrder> order = TakeLaunchFile(launch_file);
  int ends[2];
  if (!order.ok() || pipe2(ends, O_CLOEXEC) != 0) {
    std::printf("error %s\n",
                order.ok() ? "no pipe" : MessageOf(order.status()).c_str());
    return 1;
  }
  const pid_t child = fork();
  if (child == 0) return Host(*order, ends[1]);
  close(ends[1]);
  std::string said;
  char bytes[512];
  ssize_t count = 0;
  while ((count = read(ends[0], bytes, sizeof(bytes))) > 0 ||
         (count < 0 && errno == EINTR)) {
    if (count > 0) said.append(bytes, static_cast<size_t>(count));
  }
  close(ends[0]);
  if (child < 0) said = "error no process can be started\n";
  std::fputs(said.c_str(), stdout);
  return said.starts_with("ready ") ? 0 : 1;
}

}  // namespace intercom
