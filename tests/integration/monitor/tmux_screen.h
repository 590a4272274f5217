#ifndef PI_INTERCOM_TESTS_INTEGRATION_MONITOR_TMUX_SCREEN_H_
#define PI_INTERCOM_TESTS_INTEGRATION_MONITOR_TMUX_SCREEN_H_

#include <sched.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/base/clock.h"
#include "gtest/gtest.h"
#include "worker-agent/launch/command_runner.h"

namespace intercom {

// A terminal of a tmux server of its own, in which a program runs. What it was
// and how the program ended is there after its end, too.
class TmuxScreen {
 public:
  // `directory` is where tmux may keep its socket.
  TmuxScreen(std::string directory, size_t columns, size_t rows,
             const std::vector<std::string>& argv)
      : directory_(std::move(directory)) {
    std::vector<std::string> words = {"new-session", "-d",
                                      "-x",          std::to_string(columns),
                                      "-y",          std::to_string(rows)};
    words.insert(words.end(), {"--", "/bin/sh", "-c",
                               R"("$@"; echo "ended $?"; exec cat)", "sh"});
    words.insert(words.end(), argv.begin(), argv.end());
    words.insert(words.end(), {";", "set-option", "-g", "status", "off", ";",
                               "resize-window", "-x", std::to_string(columns),
                               "-y", std::to_string(rows)});
    Call(words);
  }
  ~TmuxScreen() { Call({"kill-server"}); }
  TmuxScreen(const TmuxScreen&) = delete;
  TmuxScreen& operator=(const TmuxScreen&) = delete;

  void Press(const std::string& key) { Call({"send-keys", key}); }
  void Resize(size_t columns, size_t rows) {
    Call({"resize-window", "-x", std::to_string(columns), "-y",
          std::to_string(rows)});
  }
  // The rows, without spaces at their ends.
  std::string Text() { return Call({"capture-pane", "-p"}); }
  // The same with the escape sequences of its colours.
  std::string Coloured() { return Call({"capture-pane", "-p", "-e"}); }

  // Looks until `holds` does, for 30 s at most. The last look.
  std::string Until(const std::function<bool(const std::string&)>& holds) {
    const absl::Duration end = clock_.Steady() + absl::Seconds(30);
    for (;;) {
      std::string text = Text();
      if (holds(text) || clock_.Steady() > end) return text;
      sched_yield();
    }
  }
  std::string UntilHas(const std::string& part) {
    return Until([&part](const std::string& text) {
      return text.find(part) != std::string::npos;
    });
  }

 private:
  static std::string NewName() {
    static int count = 0;
    return "screen-" + std::to_string(++count);
  }

  std::string Call(const std::vector<std::string>& words) {
    std::vector<std::string> argv = {"tmux", "-L", socket_, "-f", "/dev/null"};
    argv.insert(argv.end(), words.begin(), words.end());
    const char* path = std::getenv("PATH");
    const CommandRunner runner(
        clock_,
        {{"PATH", path == nullptr ? "/usr/bin:/bin" : path},
         {"HOME", directory_},
         {"TMUX_TMPDIR", directory_},
         {"TERM", "xterm-256color"},
         {"LANG", "C.UTF-8"},
         {"ASAN_OPTIONS", "detect_leaks=0"}},
        {.time = absl::Seconds(60)});
    const absl::StatusOr<CommandOutput> output = runner.Run(argv);
    if (!output.ok()) {
      ADD_FAILURE() << output.status();
      return "";
    }
    return output->out;
  }

  const SystemClock clock_;
  const std::string directory_;
  // A server that has just been ended leaves its name late.
  const std::string socket_ = NewName();
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_MONITOR_TMUX_SCREEN_H_
