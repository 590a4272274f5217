#include "worker-agent/guard/guard.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <set>
#include <utility>

#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "worker-agent/guard/process_tree.h"

extern char** environ;

namespace intercom {
namespace {

constexpr int kCannotRun = 127;
// How often what is left is looked for while everything ends.
constexpr int kLookMilliseconds = 20;
// In a row without finding anything: one look may miss a process whose parent
// ends at that moment.
constexpr int kEmptyLooks = 3;

sigset_t GuardSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT}) {
    sigaddset(&signals, number);
  }
  return signals;
}

// In the child of a fork: becomes the program, or tells errno to `failed`.
[[noreturn]] void BecomeProgram(pid_t guard, int failed,
                                std::vector<std::string>& argv) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before that.
  if (getppid() != guard) _exit(kCannotRun);
  // Blocked while they change: what was pending is the guard's.
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  unsetenv(kOutlivesVariable);
  std::vector<char*> words;
  for (std::string& word : argv) words.push_back(word.data());
  words.push_back(nullptr);
  execv(words[0], words.data());
  const int error = errno;
  if (write(failed, &error, sizeof(error)) < 0) _exit(kCannotRun);
  _exit(kCannotRun);
}

class Guard {
 public:
  Guard(int fd, absl::Duration grace) : fd_(fd), grace_(grace) {}

  int Run(std::vector<std::string> argv) {
    if (!Prepare()) return kCannotRun;
    if (const int error = Start(argv); error != 0) {
      Say("failed " + std::to_string(error) + "\n");
      return kCannotRun;
    }
    Say("started " + std::to_string(program_) + "\n");
    while (!IsOver()) Wait();
    const int status = status_.value_or(0);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }

 private:
  bool Prepare() {
    if (fd_ <= STDERR_FILENO || fcntl(fd_, F_SETFD, FD_CLOEXEC) != 0) {
      return false;
    }
    if (fd_ > STDERR_FILENO + 1) close_range(STDERR_FILENO + 1, fd_ - 1, 0);
    close_range(fd_ + 1, ~0U, 0);
    signal(SIGPIPE, SIG_IGN);
    const sigset_t signals = GuardSignals();
    sigprocmask(SIG_SETMASK, &signals, nullptr);
    signals_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return signals_ >= 0 && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
  }

  // 0, or the errno of what kept the program from running.
  int Start(std::vector<std::string>& argv) {
    int failed[2];
    if (pipe2(failed, O_CLOEXEC) != 0) return errno;
    const pid_t guard = getpid();
    program_ = fork();
    if (program_ < 0) return errno;
    if (program_ == 0) BecomeProgram(guard, failed[1], argv);
    close(failed[1]);
    // Only the program holds its streams from now on.
    const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
      if (null_fd < 0 || dup2(null_fd, stream) < 0) close(stream);
    }
    if (null_fd > STDERR_FILENO) close(null_fd);
    int error = 0;
    ssize_t count = 0;
    do {
      count = read(failed[0], &error, sizeof(error));
    } while (count < 0 && errno == EINTR);
    close(failed[0]);
    if (count != sizeof(error)) return 0;
    waitpid(program_, nullptr, 0);
    return error;
  }

  void Say(const std::string& line) const {
    // Nobody may listen any more.
    if (send(fd_, line.data(), line.size(), MSG_NOSIGNAL) < 0) return;
  }

  void Wait() {
    std::array<pollfd, 2> waiting = {
        pollfd{signals_, POLLIN, 0},
        // Once everything ends there is nothing more to be told.
        pollfd{IsEnding() ? -1 : fd_, POLLIN, 0}};
    poll(waiting.data(), waiting.size(), IsEnding() ? kLookMilliseconds : -1);
    signalfd_siginfo received;
    while (read(signals_, &received, sizeof(received)) == sizeof(received)) {
      if (received.ssi_signo != SIGCHLD) BeginEnd();
    }
    if (waiting[1].revents != 0) BeginEnd();
    Reap();
    if (IsEnding()) EndWhatIsLeft();
  }

  void Reap() {
    int status = 0;
    pid_t pid = 0;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
      if (pid != program_) continue;
      status_ = status;
      Say("ended " + std::to_string(status) + "\n");
      BeginEnd();
    }
    childless_ = pid < 0 && errno == ECHILD;
  }

  bool IsEnding() const { return kill_at_.has_value(); }
  void BeginEnd() {
    if (!IsEnding()) kill_at_ = clock_.Steady() + grace_;
  }

  void EndWhatIsLeft() {
    const bool kill = clock_.Steady() >= *kill_at_;
    bool found = false;
    for (const ProcessId& process : DescendantsOf(getpid())) {
      // Each is asked once, and forced as often as it takes. What can't be
      // signalled is another user's by now, and stays.
      const bool told = !kill && !asked_.insert(process).second;
      found |= told || SendSignal(process, kill ? SIGKILL : SIGTERM);
      // What is stopped takes nothing else.
      if (!kill && !told) SendSignal(process, SIGCONT);
    }
    empty_looks_ = found ? 0 : empty_looks_ + 1;
  }

  bool IsOver() const {
    return IsEnding() && status_.has_value() &&
           (childless_ || empty_looks_ >= kEmptyLooks);
  }

  const int fd_;
  const absl::Duration grace_;
  const SystemClock clock_;
  int signals_ = -1;
  pid_t program_ = 0;
  std::optional<int> status_;
  std::optional<absl::Duration> kill_at_;
  std::set<ProcessId> asked_;
  // There is nothing below this process, whatever a look finds.
  bool childless_ = false;
  int empty_looks_ = 0;
};

}  // namespace

std::optional<GuardOrder> GuardOrderOf(const std::vector<std::string>& words) {
  GuardOrder order;
  const auto number = [&words](size_t at, int& into) {
    if (at >= words.size()) return false;
    const char* end = words[at].data() + words[at].size();
    const auto parsed = std::from_chars(words[at].data(), end, into);
    return parsed.ec == std::errc() && parsed.ptr == end && into >= 0;
  };
  if (words.empty() || words[0] != "--guard" || !number(1, order.fd)) {
    return std::nullopt;
  }
  size_t at = 2;
  if (at < words.size() && words[at] == "--grace") {
    if (!number(at + 1, order.grace_milliseconds)) return std::nullopt;
    at += 2;
  }
  if (at + 1 >= words.size() || words[at] != "--") return std::nullopt;
  order.argv.assign(words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                    words.end());
  return order;
}

int RunGuard(GuardOrder order) {
  return Guard(order.fd, absl::Milliseconds(order.grace_milliseconds))
      .Run(std::move(order.argv));
}

}  // namespace intercom
