#ifndef PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_HERDR_STANDIN_H_
#define PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_HERDR_STANDIN_H_

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "tests/integration/launch/pane_rig.h"
#include "worker-agent/launch/herdr_client.h"

namespace intercom {

// A running tests/support/herdr.mjs.
class HerdrStandIn {
 public:
  // `faults`: see there. `more`: what its panes inherit besides.
  explicit HerdrStandIn(const PaneRig& rig, const std::string& faults = "",
                        const Environment& more = {})
      : rig_(rig), directory_(rig.temp_ / "herdr") {
    std::filesystem::create_directories(directory_);
    Environment environment = rig.BaseEnvironment();
    environment["HERDR_STANDIN_FAULTS"] = faults;
    for (const auto& [name, value] : more) environment[name] = value;
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment) {
      variables.push_back(name + "=" + value);
    }
    std::vector<std::string> argv = {"node", HERDR_STANDIN, "serve",
                                     directory_};
    const std::string node = FindProgram("node", environment).value();
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (posix_spawn(&pid_, node.c_str(), &actions, nullptr,
                    Pointers(argv).data(), Pointers(variables).data()) != 0) {
      std::abort();
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    std::string line;
    char c = 0;
    while (read(out[0], &c, 1) == 1 && c != '\n') line += c;
    close(out[0]);
    ready_ = nlohmann::json::parse(line);
  }
  ~HerdrStandIn() {
    Stop();
    // For the next one of the same test.
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  HerdrStandIn(const HerdrStandIn&) = delete;
  HerdrStandIn& operator=(const HerdrStandIn&) = delete;

  void Stop() {
    if (stdin_ < 0) return;
    close(stdin_);
    stdin_ = -1;
    waitpid(pid_, nullptr, 0);
  }

  // What a process in its first pane would see, with `herdr` on PATH.
  Environment Inside() const {
    Environment environment =
        ready_.at("environment").get<std::map<std::string, std::string>>();
    environment["PATH"] = ready_.at("bin").get<std::string>() + ":" +
                          ValueOf(rig_.BaseEnvironment(), "PATH");
    return environment;
  }

  // Asks it for something that launchers do not.
  nlohmann::json Ask(const std::string& method, nlohmann::json params,
                     const std::string& result_type) const {
    const CommandRunner runner(rig_.clock_, rig_.BaseEnvironment(), {});
    herdr::Request request;
    request.method = method;
    request.params = std::move(params);
    request.result_type = result_type;
    return HerdrClient(runner, directory_ + "/cli.sock")
        .Ask(request)
        .value_or(nlohmann::json());
  }

  std::string Tmux(std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {"tmux", "-u", "-S", ready_.at("tmux").get<std::string>()});
    return rig_.Run(words);
  }
  size_t Panes() const {
    return Ask("pane.list", nlohmann::json::object(), "pane_list")
        .at("panes")
        .size();
  }

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  const PaneRig& rig_;
  const std::string directory_;
  nlohmann::json ready_;
  pid_t pid_ = 0;
  int stdin_ = -1;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_LAUNCH_HERDR_STANDIN_H_
