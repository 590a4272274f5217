#include "worker-agent/link/broker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/home.h"

extern char** environ;

namespace intercom {
namespace {

constexpr char kProgram[] = "intercom-broker";
constexpr int kReadyFd = 3;
constexpr size_t kMaxLineBytes = 4096;

// Variables of the starter's session and terminal, by their beginnings.
constexpr std::array<std::string_view, 17> kLeftOut = {"PI_SESSION",
                                                       "PI_INTERCOM_SESSION",
                                                       "PI_INTERCOM_WORKSPACE",
                                                       "PI_INTERCOM_LAUNCH",
                                                       "PI_INTERCOM_OUTLIVES",
                                                       "PI_INTERCOM_GUARDS",
                                                       "PI_INTERCOM_HEADLESS",
                                                       "TERM",
                                                       "COLORTERM",
                                                       "TMUX",
                                                       "HERDR_",
                                                       "STY=",
                                                       "WINDOWID=",
                                                       "VTE_VERSION=",
                                                       "SSH_TTY=",
                                                       "COLUMNS=",
                                                       "LINES="};

bool IsExecutable(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) &&
         access(path.c_str(), X_OK) == 0;
}

// In the child of a fork: only what is safe after one in a threaded process.
[[noreturn]] void BecomeBroker(const char* program, char* const* arguments,
                               char* const* environment, int ready_fd,
                               int null_fd) {
  setsid();
  // The second child is no session leader and never gets a terminal; the
  // first one's end hands it to init.
  if (fork() != 0) _exit(0);
  if (chdir("/") != 0) _exit(127);
  // Out of the way of the numbers that are about to be taken.
  const int ready = fcntl(ready_fd, F_DUPFD, 10);
  const int null = fcntl(null_fd, F_DUPFD, 10);
  for (int fd = 0; fd < 3; ++fd) dup2(null, fd);
  dup2(ready, kReadyFd);
  close_range(kReadyFd + 1, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  execve(program, arguments, environment);
  constexpr char kFailed[] = "error EXEC_FAILED the program can't be run\n";
  [[maybe_unused]] const ssize_t ignored =
      write(kReadyFd, kFailed, sizeof(kFailed) - 1);
  _exit(127);
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

absl::StatusOr<int> AwaitReady(int fd, const std::string& home,
                               absl::Duration timeout) {
  const std::string log = BrokerLogPath(home);
  const SystemClock clock;
  const absl::Duration deadline = clock.Steady() + timeout;
  std::string line;
  while (line.find('\n') == std::string::npos) {
    const int64_t left = absl::ToInt64Milliseconds(deadline - clock.Steady());
    pollfd descriptor{fd, POLLIN, 0};
    const int ready =
        left <= 0 ? 0 : poll(&descriptor, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      return Error(absl::StatusCode::kUnavailable, "BROKER_SILENT",
                   "the broker was started but is not ready after " +
                       absl::FormatDuration(timeout) + "; its log is " + log);
    }
    char bytes[512];
    const ssize_t count = read(fd, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || line.size() > kMaxLineBytes) {
      return Error(absl::StatusCode::kUnavailable, "BROKER_DIED",
                   "the broker ended while it started; its log is " + log);
    }
    line.append(bytes, static_cast<size_t>(count));
  }
  return ParseReadyLine(line.substr(0, line.find('\n')));
}

}  // namespace

absl::StatusOr<std::string> FindBroker() {
  if (const char* set = std::getenv("PI_INTERCOM_BROKER");
      set != nullptr && *set != '\0') {
    if (IsExecutable(set)) return std::string(set);
    return Error(absl::StatusCode::kNotFound, "BROKER_NOT_FOUND",
                 "PI_INTERCOM_BROKER names " + std::string(set) +
                     ", which is no program");
  }
  std::error_code failed;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const std::string beside = self.parent_path() / kProgram;
    if (IsExecutable(beside)) return beside;
  }
  std::string_view path;
  if (const char* set = std::getenv("PATH"); set != nullptr) path = set;
  while (!path.empty()) {
    const size_t end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    path.remove_prefix(end == std::string_view::npos ? path.size() : end + 1);
    // A relative folder would depend on where the agent happens to be.
    if (!folder.starts_with('/')) continue;
    std::string candidate = std::string(folder) + "/" + kProgram;
    if (IsExecutable(candidate)) return candidate;
  }
  return Error(absl::StatusCode::kNotFound, "BROKER_NOT_FOUND",
               "intercom-broker is neither beside the agent nor on PATH; "
               "install it, or set PI_INTERCOM_BROKER to it");
}

std::vector<std::string> BrokerEnvironment(const char* const* environment) {
  std::vector<std::string> kept;
  for (; *environment != nullptr; ++environment) {
    const std::string_view variable = *environment;
    bool keep = true;
    for (const std::string_view beginning : kLeftOut) {
      if (variable.starts_with(beginning)) keep = false;
    }
    if (keep) kept.emplace_back(variable);
  }
  // It stays when the guards above its starter end what they guard (room
  // `guard`).
  kept.emplace_back("PI_INTERCOM_OUTLIVES=1");
  return kept;
}

absl::StatusOr<int> StartBrokerProcess(const std::string& program,
                                       const std::string& home,
                                       const std::string& workspace,
                                       absl::Duration timeout) {
  std::vector<std::string> arguments = {
      program,       "--home", home, "--ready-fd", std::to_string(kReadyFd),
      "--workspace", workspace};
  std::vector<std::string> environment = BrokerEnvironment(environ);
  const std::vector<char*> argv = Pointers(arguments);
  const std::vector<char*> envp = Pointers(environment);
  int ready_pipe[2];
  if (pipe2(ready_pipe, O_CLOEXEC) != 0) return ErrnoError(errno, "pipe");
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  const pid_t child = null_fd < 0 ? -1 : fork();
  if (child == 0) {
    BecomeBroker(program.c_str(), argv.data(), envp.data(), ready_pipe[1],
                 null_fd);
  }
  const int error = errno;
  close(ready_pipe[1]);
  if (null_fd >= 0) close(null_fd);
  absl::StatusOr<int> result = ErrnoError(error, "the broker can't be started");
  if (child > 0) {
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    result = AwaitReady(ready_pipe[0], home, timeout);
  }
  close(ready_pipe[0]);
  return result;
}

absl::StatusOr<int> ParseReadyLine(std::string_view line) {
  constexpr std::string_view kReady = "ready ";
  constexpr std::string_view kError = "error ";
  if (line.starts_with(kReady)) {
    const std::string_view number = line.substr(kReady.size());
    int port = -1;
    const auto [end, failed] =
        std::from_chars(number.data(), number.data() + number.size(), port);
    if (failed == std::errc() && end == number.data() + number.size() &&
        port >= 0 && port <= 65535) {
      return port;
    }
  }
  if (line.starts_with(kError)) {
    const std::string_view rest = line.substr(kError.size());
    const size_t space = rest.find(' ');
    const std::string_view message =
        space == std::string_view::npos ? rest : rest.substr(space + 1);
    return Error(absl::StatusCode::kFailedPrecondition, rest.substr(0, space),
                 message);
  }
  return Error(absl::StatusCode::kUnavailable, "BROKER_DIED",
               "the broker said something else than that it is ready");
}

}  // namespace intercom
