// The tests, and the host that runs in their panes: this program again.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "worker-agent/launch/pane.h"

extern char** environ;

namespace intercom {
namespace {

using nlohmann::json;

Surroundings Around() {
  Surroundings around;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const size_t equals = text.find('=');
    around.environment[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return around;
}

v1::HostIdentity ReadIdentity(const std::string& path) {
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  v1::HostIdentity identity;
  google::protobuf::TextFormat::ParseFromString(text, &identity);
  return identity;
}

std::string Outcome(const absl::Status& status) {
  return status.ok() ? "OK" : ReasonOf(status) + " " + MessageOf(status);
}

json Answer(const std::string& what, const std::vector<std::string>& words) {
  const Surroundings around = Around();
  if (what == "own") {
    const auto pane = OwnPane(around);
    return {{"status", Outcome(pane.status())},
            {"pane", pane.ok() ? pane->ShortDebugString() : ""}};
  }
  if (what == "name") {
    return {{"status", Outcome(NameOwnTab(words.at(0), around))}};
  }
  if (what == "inspect") {
    return {
        {"status", Outcome(InspectHost(ReadIdentity(words.at(0)), around))}};
  }
  if (what == "close") {
    return {{"status",
             Outcome(ClosePane(ReadIdentity(words.at(0)), around).status())}};
  }
  return {{"words", words},
          {"cwd", std::filesystem::current_path().string()},
          {"environment", around.environment},
          {"pid", getpid()}};
}

// `--host WHAT FIFO WORDS..`: says the answer, then stays until it is ended.
int Host(const std::string& what, const char* fifo,
         const std::vector<std::string>& words) {
  std::ofstream(fifo) << Answer(what, words)
                             .dump(-1, ' ', false,
                                   json::error_handler_t::replace)
                      << std::endl;
  while (true) pause();
}

// `--child WHAT FIFO WORDS..`: has a child that is the host, as a shell would.
int Child(char** argv) {
  const pid_t child = fork();
  if (child == 0) {
    argv[1] = const_cast<char*>("--host");
    execv("/proc/self/exe", argv);
    _exit(127);
  }
  waitpid(child, nullptr, 0);
  while (true) pause();
}

}  // namespace
}  // namespace intercom

int main(int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "--host" && argc >= 4) {
    return intercom::Host(argv[2], argv[3], {argv + 4, argv + argc});
  }
  if (first == "--child" && argc >= 4) return intercom::Child(argv);
  signal(SIGPIPE, SIG_IGN);
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
