#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCH_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCH_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "intercom/v1/work.pb.h"

namespace intercom {

using Environment = std::map<std::string, std::string>;

// The launcher that shows a host nowhere: it runs `intercom-agent --headless`,
// which hosts it.
inline constexpr char kHeadlessLauncher[] = "headless";
// In the environment of what such a host runs: the socket on which its output
// can be followed.
inline constexpr char kHeadlessSocketVariable[] = "PI_INTERCOM_HEADLESS_SOCKET";

// Where a headless host of the launch `job_id` can be followed.
std::string HeadlessSocketPath(const std::string& home,
                               const std::string& job_id);

// What this process knows of where it runs.
struct Surroundings {
  // Of this process: TMUX, HERDR_SOCKET_PATH, PATH and so on.
  Environment environment;
  // The agent's own program, which becomes the launched host (LaunchFile).
  std::string agent_path;
  // Where launch files may be kept: the state directory.
  std::string home;
};

// What to start, and where it is to show.
struct LaunchPlan {
  // "herdr", "tmux" or "headless".
  std::string launcher;
  // The program and its arguments. Nothing of it passes through a shell.
  std::vector<std::string> argv;
  // Absolute; must exist.
  std::string directory;
  // Added to the environment that the host inherits from its pane.
  Environment environment;
  // What the new tab or window is called.
  std::string title;
  // Whether it is brought in front of the person.
  bool focus = false;
};

// What became of a launch.
struct Launch {
  // OK: the launcher took it, which says nothing of the host's being ready.
  // FAILED_PRECONDITION (LAUNCHER_UNAVAILABLE, DIRECTORY_MISSING, ...): it
  // can't be used here. Others: LAUNCH_FAILED, LAUNCH_TIMED_OUT.
  absl::Status status;
  // False only where surely nothing was started.
  bool may_be_started = false;
  // What was made, also where a later step failed. May be empty.
  v1::Pane pane;
  // The new process, where the launcher tells it at once; 0 otherwise.
  int64_t host_pid = 0;
  int64_t host_start_ticks = 0;
  // For a person: what was made, and how to see it.
  std::string detail;
};

// Starts a host. A launcher that is missing is an error; there is no other to
// fall back to. Blocks, for 40 s at most; reads 1 MiB of a command's output at
// most. Thread-safe.
Launch StartHost(const LaunchPlan& plan, const Surroundings& around);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_LAUNCH_H_
