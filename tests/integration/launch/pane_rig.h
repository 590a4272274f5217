#ifndef PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_PANE_RIG_H_
#define PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_PANE_RIG_H_

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "nlohmann/json.hpp"
#include "tests/integration/launch/fifo.h"
#include "tests/support/temp_dir.h"
#include "worker-agent/launch/command_runner.h"
#include "worker-agent/launch/launch.h"
#include "worker-agent/launch/launchers.h"
#include "worker-agent/launch/unix_socket.h"

namespace intercom {

// Blocks until `holds`, for 30 s at most. Whether it does.
inline bool Until(const std::function<bool()>& holds) {
  const SystemClock clock;
  const absl::Duration end = clock.Steady() + absl::Seconds(30);
  while (!holds()) {
    if (clock.Steady() > end) return false;
    sched_yield();
  }
  return true;
}

// Names as people and attackers choose them. What they would run makes a file
// named `pwned`.
inline const std::vector<std::string>& HostileNames() {
  static const auto& kNames = *new std::vector<std::string>{
      "plain",
      "two  words",
      "it's \"quoted\" `touch pwned`",
      "semicolon;",
      ";",
      "a\\;",
      "x; touch pwned;",
      "#{pane_id} #{session_name}",
      "#(touch pwned)",
      "##(touch pwned)",
      "#[fg=red]red",
      "$(touch pwned) ${HOME} $HOME ~",
      "&& touch pwned || touch pwned | touch pwned > pwned",
      "new\nline",
      "tab\tand\x1b[31m escape",
      "🛰 émoji 日本",
      "-rf",
      "--",
      "--help",
      "%0 @0 $0 =x",
      "!! ^a^b * ? [a] {a,b}",
      "\\n\\t\\\\"};
  return kNames;
}

// A temporary world: its folders, this program as the host, and the real agent
// under a name that is hostile too.
class PaneRig {
 public:
  PaneRig() {
    std::filesystem::create_directories(home_);
    std::filesystem::create_symlink(INTERCOM_AGENT, agent_);
    self_ = std::filesystem::read_symlink("/proc/self/exe");
  }

  // What every program here gets. No settings of whoever runs the tests.
  Environment BaseEnvironment() const {
    const char* path = std::getenv("PATH");
    return {{"PATH", path == nullptr ? "/usr/bin:/bin" : path},
            {"HOME", temp_.path()},
            {"TERM", "xterm-256color"},
            {"LANG", "C.UTF-8"},
            {"TMUX_TMPDIR", temp_.path()}};
  }

  Surroundings Around(Environment more) const {
    Environment all = BaseEnvironment();
    for (auto& [name, value] : more) all[name] = value;
    return {.environment = all, .agent_path = agent_, .home = home_};
  }

  // A directory of the project, made.
  std::string Project(const std::string& name) {
    const std::string path = temp_ / "projects" + "/" + name;
    std::filesystem::create_directories(path);
    return path;
  }

  // A launch of the host, which says its facts into `fifo`.
  LaunchPlan Plan(const std::string& launcher, const std::string& name,
                  const Fifo& fifo) {
    return {.launcher = launcher,
            .argv = {self_, "--host", "facts", fifo.path(), name, "", ";",
                     name + ";"},
            .directory = Project(name),
            .environment = {{"WORD", name}, {"PI_INTERCOM_LAUNCH_TOKEN", "t"}},
            .title = name};
  }

  // Runs a program to its end and returns what it printed.
  std::string Run(const std::vector<std::string>& argv) const {
    const CommandRunner runner(clock_, BaseEnvironment(), {});
    const auto output = runner.Run(argv);
    return output.ok() ? output->out : "";
  }

  // Whether anything ran that a name was made to run.
  bool Pwned() const {
    namespace fs = std::filesystem;
    std::error_code ignored;
    if (fs::exists("pwned")) return true;
    for (fs::recursive_directory_iterator at(temp_.path(), ignored), end;
         at != end; at.increment(ignored)) {
      if (at->path().filename() == "pwned") return true;
    }
    return false;
  }

  // Launch files that were left.
  size_t LaunchFiles() const {
    std::error_code failed;
    std::filesystem::directory_iterator at(home_ + "/launch", failed);
    if (failed) return 0;
    return static_cast<size_t>(
        std::distance(at, std::filesystem::directory_iterator()));
  }

  TempDir temp_;
  SystemClock clock_;
  SystemRandom random_;
  std::string home_ = temp_ / "state; #{x}";
  std::string agent_ = temp_ / "it's $(the) agent;";
  std::string self_;
};

// A tmux server of the test's own.
class TmuxServer {
 public:
  // Its environment is what panes inherit.
  TmuxServer(const PaneRig& rig, const std::string& socket,
             Environment environment)
      : runner_(rig.clock_, std::move(environment), {.time = absl::Hours(1)}),
        socket_(socket) {
    const std::string out = Run({"-f", "/dev/null", "new-session", "-d", "-x",
                                 "110", "-y", "35", "-s", "first one", "-P",
                                 "-F", "#{pid}", "--", "/bin/sleep", "100000"});
    pid_ = out.substr(0, out.find('\n'));
  }
  ~TmuxServer() {
    Run({"kill-server"});
    Until([this] { return !SomebodyListens(socket_); });
  }
  TmuxServer(const TmuxServer&) = delete;
  TmuxServer& operator=(const TmuxServer&) = delete;

  std::string Run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"tmux", "-u", "-S", socket_});
    const auto output = runner_.Run(words);
    return output.ok() ? output->out : "";
  }

  // What a process in pane `pane` would see.
  Environment Inside(const std::string& pane = "%0") const {
    return {{"TMUX", socket_ + "," + pid_ + ",0"}, {"TMUX_PANE", pane}};
  }

  // One line of facts of a pane or window.
  std::string Show(const std::string& target, const std::string& format) const {
    const std::string out =
        Run({"display-message", "-p", "-t", target, format});
    return out.substr(0, out.find('\n'));
  }
  bool HasPane(const std::string& pane) const {
    return ("\n" + Run({"list-panes", "-a", "-F", "#{pane_id}"}))
               .find("\n" + pane + "\n") != std::string::npos;
  }
  std::string Screen(const std::string& pane) const {
    return Run({"capture-pane", "-p", "-J", "-t", pane});
  }

  const std::string& socket() const { return socket_; }

 private:
  const CommandRunner runner_;
  const std::string socket_;
  std::string pid_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_PANE_RIG_H_
