#ifndef PI_INTERCOM_TESTS_BENCH_PROCESS_H_
#define PI_INTERCOM_TESTS_BENCH_PROCESS_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

namespace intercom::bench {

// A program that the benchmark started. Ended with SIGTERM and waited for when
// destroyed.
class Process {
 public:
  // Ends the benchmark if the program can't be started. `environment` is added
  // to the benchmark's own, as NAME=value. The child's standard error is kept
  // out of the way in `log`.
  static std::unique_ptr<Process> Start(
      const std::vector<std::string>& command,
      const std::vector<std::string>& environment, const std::string& log);
  ~Process();

  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  // The child's standard input, standard output, and its descriptor 3.
  int in() const { return in_; }
  int out() const { return out_; }
  int ready() const { return ready_; }

  // Blocks until the child wrote a line to its descriptor 3, and returns it.
  std::string WaitUntilReady();

 private:
  Process() = default;

  pid_t pid_ = 0;
  int in_ = -1;
  int out_ = -1;
  int ready_ = -1;
};

// Of a living process: memory in KiB by a key of /proc/PID/status, and seconds
// of processor time.
int64_t MemoryKib(pid_t pid, const std::string& key);
double CpuSeconds(pid_t pid);
// Ends a process that is no child, and waits for it.
void EndStranger(pid_t pid);

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_PROCESS_H_
