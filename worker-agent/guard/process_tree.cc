#include "worker-agent/guard/process_tree.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <string>
#include <system_error>

#include "broker/base/process.h"

namespace intercom {
namespace {

std::vector<int64_t> AllPids() {
  std::vector<int64_t> pids;
  std::error_code failed;
  for (std::filesystem::directory_iterator at("/proc", failed), end;
       !failed && at != end; at.increment(failed)) {
    const std::string name = at->path().filename();
    int64_t pid = 0;
    const auto [rest, error] =
        std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error == std::errc() && rest == name.data() + name.size()) {
      pids.push_back(pid);
    }
  }
  return pids;
}

bool Outlives(int64_t pid) {
  return !EnvironmentOf(pid, kOutlivesVariable).empty();
}

void AddBelow(int64_t pid, const std::multimap<int64_t, int64_t>& children,
              std::vector<ProcessId>& found) {
  const auto [first, last] = children.equal_range(pid);
  for (auto at = first; at != last; ++at) {
    if (Outlives(at->second)) continue;
    const int64_t ticks = StartTicksOf(at->second);
    if (ticks != 0) found.push_back({at->second, ticks});
    AddBelow(at->second, children, found);
  }
}

bool HoldsWord(std::string_view text, std::string_view word) {
  while (!text.empty()) {
    const size_t end = text.find(' ');
    if (text.substr(0, end) == word) return true;
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace

std::vector<ProcessId> DescendantsOf(int64_t pid) {
  std::multimap<int64_t, int64_t> children;
  for (const int64_t other : AllPids()) {
    children.emplace(ParentOf(other), other);
  }
  std::vector<ProcessId> found;
  AddBelow(pid, children, found);
  return found;
}

std::vector<ProcessId> ProcessesGuardedBy(std::string_view id) {
  std::vector<ProcessId> found;
  for (const int64_t pid : AllPids()) {
    if (!HoldsWord(EnvironmentOf(pid, kGuardsVariable), id)) continue;
    const int64_t ticks = StartTicksOf(pid);
    if (ticks != 0 && !Outlives(pid)) found.push_back({pid, ticks});
  }
  return found;
}

bool SendSignal(const ProcessId& process, int number) {
  const int fd = static_cast<int>(
      syscall(SYS_pidfd_open, static_cast<pid_t>(process.pid), 0));
  if (fd < 0) return errno == ESRCH;
  // The descriptor names whoever has the number now; the start tells whether
  // that is the process meant.
  int failed = 0;
  if (StartTicksOf(process.pid) == process.start_ticks &&
      syscall(SYS_pidfd_send_signal, fd, number, nullptr, 0) != 0) {
    failed = errno;
  }
  close(fd);
  return failed == 0 || failed == ESRCH;
}

}  // namespace intercom
