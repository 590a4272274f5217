#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_COMMAND_RUNNER_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_COMMAND_RUNNER_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "worker-agent/launch/launch.h"

namespace intercom {

// What a program that ended left.
struct CommandOutput {
  // 128 and the signal's number if a signal ended it.
  int exit_code = 0;
  std::string out;
  std::string err;
};

// The variables of this process.
Environment OwnEnvironment();

// The value of a variable, "" if it is not set.
std::string ValueOf(const Environment& environment, std::string_view name);

// The absolute path of `program`: itself if it is one, else the first
// executable of that name in the absolute folders of `environment`'s PATH.
// NOT_FOUND (COMMAND_NOT_FOUND).
absl::StatusOr<std::string> FindProgram(const std::string& program,
                                        const Environment& environment);

// Runs other programs within one allowance of time and output.
//
// A program gets its arguments as they are (no shell), the given environment
// and nothing else of this process: standard input is /dev/null, other
// descriptors are closed, signals are as at a program's start. It has its own
// process group, which is killed when the allowance is used up.
//
// Thread-safe.
class CommandRunner {
 public:
  struct Limits {
    // For everything that this object does, from now.
    absl::Duration time = absl::Seconds(40);
    // Of one program, standard output and error together.
    size_t output_bytes = size_t{1} << 20;
  };

  // `clock` must outlive this object.
  CommandRunner(const Clock& clock, Environment environment, Limits limits);

  // Blocks until the program has ended. What it left running in the background
  // is neither waited for nor killed. An exit code other than 0 is no error.
  //
  // NOT_FOUND (COMMAND_NOT_FOUND): nothing was run. DEADLINE_EXCEEDED
  // (COMMAND_TIMED_OUT), RESOURCE_EXHAUSTED (COMMAND_OUTPUT_TOO_LARGE): it was
  // killed. UNAVAILABLE: it can't be started.
  absl::StatusOr<CommandOutput> Run(const std::vector<std::string>& argv) const;

  // The same program with other variables and the same allowance.
  CommandRunner With(Environment environment) const;

  // Never negative.
  absl::Duration TimeLeft() const;

  // Blocks for `pause`, or for the time that is left if that is less.
  void Pause(absl::Duration pause) const;

  size_t output_bytes() const { return limits_.output_bytes; }
  const Environment& environment() const { return environment_; }

 private:
  const Clock& clock_;
  Environment environment_;
  Limits limits_;
  absl::Duration deadline_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_COMMAND_RUNNER_H_
