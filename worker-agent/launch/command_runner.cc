#include "worker-agent/launch/command_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"

namespace intercom {
namespace {

bool IsExecutable(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) &&
         access(path.c_str(), X_OK) == 0;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// A descriptor that is closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  void Set(int fd) {
    Close();
    fd_ = fd;
  }
  void Close() {
    if (fd_ >= 0) close(fd_);
    fd_ = -1;
  }
  int get() const { return fd_; }

 private:
  int fd_ = -1;
};

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.Set(ends[0]);
    write.Set(ends[1]);
    return fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
  }
};

// Takes what is there. False at the end of the pipe.
bool Drain(int fd, std::string& into) {
  char bytes[4096];
  while (true) {
    const ssize_t count = read(fd, bytes, sizeof(bytes));
    if (count > 0) {
      into.append(bytes, static_cast<size_t>(count));
    } else if (count < 0 && errno == EINTR) {
      continue;
    } else {
      return count < 0 && errno == EAGAIN;
    }
    // Enough for now: the caller looks at the size.
    if (into.size() > (size_t{4} << 20)) return true;
  }
}

int Spawn(const std::string& program, std::vector<std::string> argv,
          const Environment& environment, const Pipe& out, const Pipe& err,
          pid_t& pid) {
  std::vector<std::string> variables;
  for (const auto& [name, value] : environment) {
    variables.push_back(name + "=" + value);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null",
                                   O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const int error =
      posix_spawn(&pid, program.c_str(), &actions, &attributes,
                  Pointers(argv).data(), Pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Environment OwnEnvironment() {
  Environment all;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    all.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return all;
}

std::string ValueOf(const Environment& environment, std::string_view name) {
  const auto found = environment.find(std::string(name));
  return found == environment.end() ? "" : found->second;
}

absl::StatusOr<std::string> FindProgram(const std::string& program,
                                        const Environment& environment) {
  if (program.starts_with('/') && IsExecutable(program)) return program;
  if (program.find('/') == std::string::npos && !program.empty()) {
    const std::string path = ValueOf(environment, "PATH");
    for (size_t at = 0; at <= path.size();) {
      const size_t end = std::min(path.find(':', at), path.size());
      // A relative folder would depend on where this process happens to be.
      if (end > at && path[at] == '/') {
        std::string candidate = path.substr(at, end - at) + "/" + program;
        if (IsExecutable(candidate)) return candidate;
      }
      at = end + 1;
    }
  }
  return Error(absl::StatusCode::kNotFound, "COMMAND_NOT_FOUND",
               "there is no program " + program +
                   (program.starts_with('/') ? "" : " on PATH"));
}

CommandRunner::CommandRunner(const Clock& clock, Environment environment,
                             Limits limits)
    : clock_(clock),
      environment_(std::move(environment)),
      limits_(limits),
      deadline_(clock.Steady() + limits.time) {}

CommandRunner CommandRunner::With(Environment environment) const {
  CommandRunner other = *this;
  other.environment_ = std::move(environment);
  return other;
}

absl::Duration CommandRunner::TimeLeft() const {
  return std::max(deadline_ - clock_.Steady(), absl::ZeroDuration());
}

void CommandRunner::Pause(absl::Duration pause) const {
  const absl::Duration time = std::min(pause, TimeLeft());
  poll(nullptr, 0, static_cast<int>(absl::ToInt64Milliseconds(time)));
}

absl::StatusOr<CommandOutput> CommandRunner::Run(
    const std::vector<std::string>& argv) const {
  if (argv.empty()) {
    return Error(absl::StatusCode::kNotFound, "COMMAND_NOT_FOUND",
                 "no program is named");
  }
  INTERCOM_ASSIGN_OR_RETURN(const std::string program,
                            FindProgram(argv[0], environment_));
  Pipe out, err;
  if (!out.Open() || !err.Open()) return ErrnoError(errno, "pipe");
  pid_t pid = 0;
  if (const int error = Spawn(program, argv, environment_, out, err, pid);
      error != 0) {
    return ErrnoError(error, program + " can't be started");
  }
  out.write.Close();
  err.write.Close();
  const Descriptor ended(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  const auto kill_group = [pid] {
    // The group is gone only once its leader was waited for.
    kill(-pid, SIGKILL);
    WaitFor(pid);
  };
  CommandOutput output;
  bool out_open = true, err_open = true, running = true;
  while (running) {
    const int64_t left = absl::ToInt64Milliseconds(TimeLeft());
    std::array<pollfd, 3> waiting = {
        pollfd{ended.get(), POLLIN, 0},
        pollfd{out_open ? out.read.get() : -1, POLLIN, 0},
        pollfd{err_open ? err.read.get() : -1, POLLIN, 0}};
    const int ready =
        poll(waiting.data(), waiting.size(), static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0 || left == 0) {
      kill_group();
      return Error(absl::StatusCode::kDeadlineExceeded, "COMMAND_TIMED_OUT",
                   argv[0] + " did not end in time and was stopped");
    }
    // It ended: what it wrote is in the pipes by now, though programs that it
    // left in the background may hold them open.
    running = waiting[0].revents == 0;
    if (out_open) out_open = Drain(out.read.get(), output.out);
    if (err_open) err_open = Drain(err.read.get(), output.err);
    if (output.out.size() + output.err.size() > limits_.output_bytes) {
      kill_group();
      return Error(
          absl::StatusCode::kResourceExhausted, "COMMAND_OUTPUT_TOO_LARGE",
          argv[0] + " wrote more than " + std::to_string(limits_.output_bytes) +
              " bytes and was stopped");
    }
  }
  output.exit_code = WaitFor(pid);
  return output;
}

}  // namespace intercom
