#ifndef PI_INTERCOM_TESTS_INTEGRATION_CHILD_PROGRAM_H_
#define PI_INTERCOM_TESTS_INTEGRATION_CHILD_PROGRAM_H_

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

extern char** environ;

namespace intercom {

// This program again as a child, with other arguments (integration_main.cc).
// Its standard input ends when this object does.
class ChildProgram {
 public:
  explicit ChildProgram(std::vector<std::string> arguments,
                        std::vector<std::string> environment = {}) {
    arguments.insert(arguments.begin(), "broker_test");
    for (char** variable = environ; *variable != nullptr; ++variable) {
      environment.emplace_back(*variable);
    }
    int in[2], out[2];
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in[0], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
    if (posix_spawn(&pid_, "/proc/self/exe", &actions, nullptr,
                    Pointers(arguments).data(),
                    Pointers(environment).data()) != 0) {
      std::abort();
    }
    posix_spawn_file_actions_destroy(&actions);
    close(in[0]);
    close(out[1]);
    stdin_ = in[1];
    stdout_ = out[0];
  }
  ~ChildProgram() {
    close(stdin_);
    waitpid(pid_, nullptr, 0);
    close(stdout_);
  }

  // Blocks for its next line, without the end.
  std::string ReadLine() {
    std::string line;
    char c = 0;
    while (read(stdout_, &c, 1) == 1 && c != '\n') line += c;
    return line;
  }
  pid_t pid() const { return pid_; }

 private:
  static std::vector<char*> Pointers(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
  }

  pid_t pid_ = 0;
  int stdin_ = -1;
  int stdout_ = -1;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_CHILD_PROGRAM_H_
