#ifndef PI_INTERCOM_WORKER_AGENT_GUARD_GUARDED_PROCESS_H_
#define PI_INTERCOM_WORKER_AGENT_GUARD_GUARDED_PROCESS_H_

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace intercom {

// A program to run under a guard.
struct GuardedCommand {
  // Tells what this guard guards from what others do: a UUID.
  std::string id;
  // The agent's own program, which becomes the guard.
  std::string agent_path;
  // `argv[0]` is a path. Nothing of it passes through a shell.
  std::vector<std::string> argv;
  std::string directory;
  // All that the program gets.
  std::map<std::string, std::string> environment;
  // Whether it has a pipe as standard input; else that is closed at once.
  bool has_input = false;
  // Between SIGTERM and SIGKILL.
  absl::Duration grace = absl::Seconds(5);
};

// A program with its guard. When this object goes, or its process ends however,
// the guard ends the program and all that it started. Owns no thread: the
// owner polls the descriptors, which don't block but the input. Not
// thread-safe.
class GuardedProcess {
 public:
  // Blocks until the program runs. NOT_FOUND, PERMISSION_DENIED, UNAVAILABLE
  // (START_FAILED): it can't be run, and nothing was.
  static absl::StatusOr<GuardedProcess> Start(const GuardedCommand& command);

  GuardedProcess(GuardedProcess&& other) noexcept;
  GuardedProcess& operator=(GuardedProcess&&) = delete;
  // Begins the end of everything and does not wait for it.
  ~GuardedProcess();

  // Of the program and its guard.
  pid_t pid() const { return pid_; }
  pid_t guard_pid() const { return guard_pid_; }
  // Ends of its streams; -1 once closed.
  int in() const { return in_; }
  int out() const { return out_; }
  int err() const { return err_; }
  // Readable when ReadGuard() has something to take.
  int guard() const { return guard_; }

  void CloseIn() { Close(in_); }
  void CloseOut() { Close(out_); }
  void CloseErr() { Close(err_); }

  // Begins the end: SIGTERM to all, SIGKILL to what is left after the grace.
  void End();

  // Takes what the guard says. True once it is gone, and all that was started
  // with it, or nearly so: where the guard was killed, what it guarded is
  // killed here, which blocks for 2 s at most.
  bool ReadGuard();

  // How the program itself ended, as waitpid() tells it; nullopt: it runs, or
  // nobody knows because its guard was killed.
  std::optional<int> status() const { return status_; }

 private:
  GuardedProcess() = default;
  static void Close(int& fd);
  // Reads one line from the guard, blocking.
  std::string ReadLine();
  void Take(const std::string& line);
  void KillWhatIsLeft();

  std::string id_;
  pid_t pid_ = 0;
  pid_t guard_pid_ = 0;
  int in_ = -1;
  int out_ = -1;
  int err_ = -1;
  int guard_ = -1;
  std::string said_;
  std::optional<int> status_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_GUARD_GUARDED_PROCESS_H_
