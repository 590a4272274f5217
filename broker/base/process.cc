#include "broker/base/process.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

namespace intercom {
namespace {

constexpr size_t kMaxAncestors = 64;

// Not by a stream: that throws when the process ends while it is read.
std::string ReadAll(const std::string& path) {
  std::string text;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return text;
  char bytes[4096];
  ssize_t count = 0;
  while ((count = read(fd, bytes, sizeof(bytes))) > 0) {
    text.append(bytes, static_cast<size_t>(count));
  }
  close(fd);
  return text;
}

std::string ProcPath(int64_t pid, std::string_view name) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(name);
}

// What follows the command in /proc/PID/stat, which may itself hold anything up
// to the last parenthesis: state, parent, and so on. Empty if there is none.
std::vector<std::string> StatFields(int64_t pid) {
  const std::string stat = ReadAll(ProcPath(pid, "stat"));
  const size_t end = stat.rfind(')');
  if (end == std::string::npos) return {};
  std::istringstream rest(stat.substr(end + 1));
  return {std::istream_iterator<std::string>(rest), {}};
}

int64_t NumberAt(const std::vector<std::string>& fields, size_t index) {
  int64_t number = 0;
  if (index < fields.size()) {
    const std::string& text = fields[index];
    std::from_chars(text.data(), text.data() + text.size(), number);
  }
  return number;
}

// The inode of this user's socket whose local end is `local` in a table of
// /proc/net, or empty.
std::string InodeIn(const char* path, const std::string& local) {
  std::ifstream table(path);
  std::string line;
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string slot, local_address, remote, state, queues, timer, retransmits,
        uid, timeout, inode;
    fields >> slot >> local_address >> remote >> state >> queues >> timer >>
        retransmits >> uid >> timeout >> inode;
    if (local_address == local && inode != "0" &&
        uid == std::to_string(getuid())) {
      return inode;
    }
  }
  return {};
}

// The inode of the socket whose local end is 127.0.0.1:port, or empty.
std::string InodeOfLocalPort(int port) {
  char digits[8];
  std::snprintf(digits, sizeof(digits), ":%04X", port);
  // A socket for both families, as gRPC opens them, is in the second table.
  for (const auto& [path, address] :
       {std::pair("/proc/net/tcp", "0100007F"),
        std::pair("/proc/net/tcp6", "0000000000000000FFFF00000100007F")}) {
    std::string inode = InodeIn(path, std::string(address) + digits);
    if (!inode.empty()) return inode;
  }
  return {};
}

bool HoldsDescriptor(int64_t pid, const std::string& target) {
  const std::string folder = ProcPath(pid, "fd");
  DIR* dir = opendir(folder.c_str());
  if (dir == nullptr) return false;
  bool found = false;
  while (const dirent* entry = readdir(dir)) {
    char link[64];
    const ssize_t size =
        readlinkat(dirfd(dir), entry->d_name, link, sizeof(link));
    if (size > 0 && target == std::string_view(link, size)) {
      found = true;
      break;
    }
  }
  closedir(dir);
  return found;
}

}  // namespace

std::vector<int64_t> Ancestry(int64_t pid) {
  std::vector<int64_t> found;
  while (pid > 1 && found.size() < kMaxAncestors) {
    found.push_back(pid);
    pid = ParentOf(pid);
  }
  return found;
}

int64_t ParentOf(int64_t pid) { return NumberAt(StatFields(pid), 1); }

std::string EnvironmentOf(int64_t pid, std::string_view name) {
  const std::string block = ReadAll(ProcPath(pid, "environ"));
  const std::string prefix = std::string(name) + "=";
  for (size_t at = 0; at < block.size();) {
    const size_t end = std::min(block.find('\0', at), block.size());
    if (block.compare(at, prefix.size(), prefix) == 0) {
      return block.substr(at + prefix.size(), end - at - prefix.size());
    }
    at = end + 1;
  }
  return {};
}

int64_t StartTicksOf(int64_t pid) {
  // Fields 3 (state) and 22 (starttime) of proc(5).
  const std::vector<std::string> fields = StatFields(pid);
  if (fields.empty() || fields[0] == "Z" || fields[0] == "X") return 0;
  return NumberAt(fields, 19);
}

int64_t OwnerOfTcpPort(int port) {
  const std::string inode = InodeOfLocalPort(port);
  if (inode.empty()) return 0;
  const std::string target = "socket:[" + inode + "]";
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return 0;
  int64_t owner = 0;
  while (const dirent* entry = readdir(proc)) {
    int64_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    if (std::from_chars(entry->d_name, end, pid).ptr != end ||
        pid == getpid()) {
      continue;
    }
    if (HoldsDescriptor(pid, target)) {
      owner = pid;
      break;
    }
  }
  closedir(proc);
  return owner;
}

}  // namespace intercom
