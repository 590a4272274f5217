#include "worker-agent/guard/guarded_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "broker/base/error.h"
#include "worker-agent/guard/process_tree.h"

namespace intercom {
namespace {

// Where the guard has its end of the socket.
constexpr int kGuardFd = 3;
constexpr int kCleanUpLooks = 200;
constexpr int kLookMilliseconds = 10;

// A descriptor that is closed at the end unless it was taken.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void Set(int fd) { fd_ = fd; }
  int get() const { return fd_; }
  int Take() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

struct Pipe {
  Descriptor read;
  Descriptor write;

  bool Open() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read.Set(ends[0]);
    write.Set(ends[1]);
    return true;
  }
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> VariablesOf(const GuardedCommand& command) {
  std::string guards = command.id;
  std::vector<std::string> variables;
  for (const auto& [name, value] : command.environment) {
    if (name == kGuardsVariable) {
      guards = value + " " + command.id;
    } else {
      variables.push_back(name + "=" + value);
    }
  }
  variables.push_back(std::string(kGuardsVariable) + "=" + guards);
  return variables;
}

absl::Status StartFailed(int error, const std::string& what) {
  const absl::Status cause = ErrnoError(error, what);
  return Error(cause.code(), "START_FAILED", MessageOf(cause));
}

void SetNonBlocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

int SpawnGuard(const GuardedCommand& command, int in, int out, int err,
               int guard, pid_t& pid) {
  std::vector<std::string> words = {
      command.agent_path,
      "--guard",
      std::to_string(kGuardFd),
      "--grace",
      std::to_string(absl::ToInt64Milliseconds(command.grace)),
      "--"};
  words.insert(words.end(), command.argv.begin(), command.argv.end());
  std::vector<std::string> variables = VariablesOf(command);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // Ends that lie among the numbers to be taken must not be overwritten before
  // they are used, so all go above them first.
  const int from[] = {in, out, err, guard};
  for (int i = 0; i <= kGuardFd; ++i) {
    posix_spawn_file_actions_adddup2(&actions, from[i], 100 + i);
  }
  for (int i = 0; i <= kGuardFd; ++i) {
    posix_spawn_file_actions_adddup2(&actions, 100 + i, i);
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, kGuardFd + 1);
  posix_spawn_file_actions_addchdir_np(&actions, command.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // In a session of its own, a terminal's signals don't reach it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID |
                                            POSIX_SPAWN_SETSIGMASK |
                                            POSIX_SPAWN_SETSIGDEF);
  sigset_t signals;
  sigemptyset(&signals);
  posix_spawnattr_setsigmask(&attributes, &signals);
  sigfillset(&signals);
  posix_spawnattr_setsigdefault(&attributes, &signals);
  const int error =
      posix_spawn(&pid, command.agent_path.c_str(), &actions, &attributes,
                  Pointers(words).data(), Pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

bool ReadNumber(const std::string& line, const std::string& word, int& number) {
  if (!line.starts_with(word)) return false;
  const char* begin = line.data() + word.size();
  return std::from_chars(begin, line.data() + line.size(), number).ec ==
         std::errc();
}

}  // namespace

absl::StatusOr<GuardedProcess> GuardedProcess::Start(
    const GuardedCommand& command) {
  const std::string program = command.argv.empty() ? "" : command.argv[0];
  Pipe in, out, err;
  int ends[2];
  if (!out.Open() || !err.Open() || (command.has_input && !in.Open()) ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    return StartFailed(errno, program);
  }
  Descriptor own_end(ends[0]), guard_end(ends[1]);
  if (!command.has_input) {
    in.read.Set(open("/dev/null", O_RDONLY | O_CLOEXEC));
  }
  GuardedProcess process;
  process.id_ = command.id;
  if (const int error =
          SpawnGuard(command, in.read.get(), out.write.get(), err.write.get(),
                     guard_end.get(), process.guard_pid_);
      error != 0) {
    return StartFailed(error, "the guard of " + program + " in " +
                                  command.directory + " can't be started");
  }
  close(guard_end.Take());
  close(out.write.Take());
  close(err.write.Take());
  process.guard_ = own_end.Take();
  process.in_ = in.write.Take();
  process.out_ = out.read.Take();
  process.err_ = err.read.Take();
  const std::string line = process.ReadLine();
  int number = 0;
  if (ReadNumber(line, "started ", number)) {
    process.pid_ = number;
    for (const int fd : {process.out_, process.err_, process.guard_}) {
      SetNonBlocking(fd);
    }
    return process;
  }
  if (!ReadNumber(line, "failed ", number)) number = ECHILD;
  while (waitpid(process.guard_pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  process.guard_pid_ = 0;
  return StartFailed(number, program + " can't be run");
}

GuardedProcess::GuardedProcess(GuardedProcess&& other) noexcept
    : id_(std::move(other.id_)),
      pid_(other.pid_),
      guard_pid_(std::exchange(other.guard_pid_, 0)),
      in_(std::exchange(other.in_, -1)),
      out_(std::exchange(other.out_, -1)),
      err_(std::exchange(other.err_, -1)),
      guard_(std::exchange(other.guard_, -1)),
      said_(std::move(other.said_)),
      status_(other.status_) {}

GuardedProcess::~GuardedProcess() {
  for (int* fd : {&in_, &out_, &err_, &guard_}) Close(*fd);
}

void GuardedProcess::Close(int& fd) {
  if (fd >= 0) close(fd);
  fd = -1;
}

void GuardedProcess::End() {
  // It may be gone, which ReadGuard() finds.
  if (guard_ >= 0) send(guard_, "x", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

std::string GuardedProcess::ReadLine() {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t count = read(guard_, &c, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || c == '\n') return line;
    line += c;
  }
}

void GuardedProcess::Take(const std::string& line) {
  int status = 0;
  if (ReadNumber(line, "ended ", status)) status_ = status;
}

bool GuardedProcess::ReadGuard() {
  if (guard_ < 0) return true;
  char bytes[256];
  ssize_t count = 0;
  while ((count = read(guard_, bytes, sizeof(bytes))) > 0 ||
         (count < 0 && errno == EINTR)) {
    if (count > 0) said_.append(bytes, static_cast<size_t>(count));
    for (size_t end; (end = said_.find('\n')) != std::string::npos;) {
      Take(said_.substr(0, end));
      said_.erase(0, end + 1);
    }
  }
  if (count < 0 && errno == EAGAIN) return false;
  Close(guard_);
  int status = 0;
  while (waitpid(guard_pid_, &status, 0) < 0 && errno == EINTR) {
  }
  guard_pid_ = 0;
  if (WIFSIGNALED(status)) KillWhatIsLeft();
  return true;
}

void GuardedProcess::KillWhatIsLeft() {
  for (int look = 0; look < kCleanUpLooks; ++look) {
    bool found = false;
    for (const ProcessId& process : ProcessesGuardedBy(id_)) {
      found |= SendSignal(process, SIGKILL);
    }
    if (!found) return;
    poll(nullptr, 0, kLookMilliseconds);
  }
}

}  // namespace intercom
