#ifndef PI_INTERCOM_TESTS_SUPPORT_STOP_PROCESS_H_
#define PI_INTERCOM_TESTS_SUPPORT_STOP_PROCESS_H_

#include <signal.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace intercom {

// Whether every thread of `pid` is stopped.
inline bool IsStopped(pid_t pid) {
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (const auto& task : std::filesystem::directory_iterator(tasks)) {
    std::ifstream stat(task.path() / "stat");
    const std::string text(std::istreambuf_iterator<char>(stat), {});
    // The state follows the name, which is in brackets.
    if (text.substr(text.rfind(')') + 2, 1) != "T") return false;
  }
  return true;
}

// Stops `pid` and waits until it stands: a thread that does not yet would still
// answer. False if there is no such process.
inline bool StopProcess(pid_t pid) {
  if (kill(pid, SIGSTOP) != 0) return false;
  while (!IsStopped(pid)) std::this_thread::yield();
  return true;
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_SUPPORT_STOP_PROCESS_H_
