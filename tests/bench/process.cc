#include "tests/bench/process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/bench/progress.h"

namespace intercom::bench {
namespace {

constexpr int kReadyDescriptor = 3;

struct Pipe {
  Pipe() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) Die("no pipe");
    // Above the numbers that the child gets.
    read = fcntl(ends[0], F_DUPFD_CLOEXEC, 10);
    write = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
    close(ends[0]);
    close(ends[1]);
  }
  int read;
  int write;
};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

std::unique_ptr<Process> Process::Start(
    const std::vector<std::string>& command,
    const std::vector<std::string>& environment, const std::string& log) {
  Pipe in, out, ready;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&actions, ready.write, kReadyDescriptor);
  std::vector<std::string> arguments = command;
  std::vector<std::string> variables = environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    variables.push_back(*variable);
  }
  std::unique_ptr<Process> process(new Process);
  if (posix_spawn(&process->pid_, command[0].c_str(), &actions, nullptr,
                  Pointers(arguments).data(),
                  Pointers(variables).data()) != 0) {
    Die("can't start " + command[0]);
  }
  posix_spawn_file_actions_destroy(&actions);
  close(in.read);
  close(out.write);
  close(ready.write);
  process->in_ = in.write;
  process->out_ = out.read;
  process->ready_ = ready.read;
  return process;
}

Process::~Process() {
  close(in_);
  kill(pid_, SIGTERM);
  waitpid(pid_, nullptr, 0);
  close(out_);
  close(ready_);
}

std::string Process::WaitUntilReady() {
  std::string line;
  char byte = 0;
  while (read(ready_, &byte, 1) == 1 && byte != '\n') line += byte;
  if (line.empty()) Die("a program ended before it was ready");
  return line;
}

int64_t MemoryKib(pid_t pid, const std::string& key) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.rfind(key + ":", 0) == 0) {
      return std::stoll(line.substr(key.size() + 1));
    }
  }
  return 0;
}

double CpuSeconds(pid_t pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(stat, text);
  // Fields 14 and 15, counted from the state, which is the third.
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string skipped;
  for (int i = 3; i < 14; ++i) fields >> skipped;
  double user = 0;
  double system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void EndStranger(pid_t pid) {
  kill(pid, SIGTERM);
  while (kill(pid, 0) == 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace intercom::bench
