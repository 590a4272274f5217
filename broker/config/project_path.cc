#include "broker/config/project_path.h"

namespace intercom {
namespace {

constexpr size_t kMaxDirectoryBytes = 4096;

bool IsLetter(char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

}  // namespace

std::string WhyNotProjectDirectory(std::string_view directory) {
  if (directory.empty()) return "is empty; write . for the workspace root";
  if (directory.size() > kMaxDirectoryBytes) {
    return "is longer than 4096 bytes";
  }
  if (directory.find('\0') != std::string_view::npos) return "contains NUL";
  if (directory[0] == '/' || directory[0] == '\\' ||
      (directory.size() >= 2 && IsLetter(directory[0]) &&
       directory[1] == ':')) {
    return "is absolute; it must be relative to the workspace root";
  }
  for (size_t begin = 0; begin <= directory.size();) {
    size_t end = directory.find_first_of("/\\", begin);
    if (end == std::string_view::npos) end = directory.size();
    if (directory.substr(begin, end - begin) == "..") {
      return "has a .. segment";
    }
    begin = end + 1;
  }
  return "";
}

bool IsAtOrBelow(std::string_view root, std::string_view path) {
  if (root == "/") return path.substr(0, 1) == "/";
  return path.substr(0, root.size()) == root &&
         (path.size() == root.size() || path[root.size()] == '/');
}

std::string RelativeTo(std::string_view root, std::string_view path) {
  if (path.size() == root.size()) return ".";
  return std::string(path.substr(root == "/" ? 1 : root.size() + 1));
}

}  // namespace intercom
