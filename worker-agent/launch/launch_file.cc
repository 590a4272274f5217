#include "worker-agent/launch/launch_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "nlohmann/json.hpp"
#include "worker-agent/launch/private_directory.h"

namespace intercom {
namespace {

constexpr char kShared[] = "/tmp";
constexpr std::string_view kSharedPrefix = "intercom-launch-";
constexpr size_t kMaxTypedPath = 150;
constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr absl::Duration kMaxAge = absl::Hours(1);

absl::Status Invalid(const std::string& why) {
  return Error(absl::StatusCode::kFailedPrecondition, "LAUNCH_INVALID", why);
}

// `<home>/launch`, there and private.
absl::StatusOr<std::string> MakeDirectory(const std::string& home) {
  const std::string path = home + "/launch";
  INTERCOM_RETURN_IF_ERROR(MakePrivateDirectory(path));
  return path;
}

absl::Status WriteNew(const std::string& path, const std::string& text,
                      mode_t mode) {
  const int fd = open(
      path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  if (fd < 0) return ErrnoError(errno, path);
  size_t at = 0;
  int error = 0;
  while (at < text.size() && error == 0) {
    const ssize_t count = write(fd, text.data() + at, text.size() - at);
    if (count > 0) at += static_cast<size_t>(count);
    if (count < 0 && errno != EINTR) error = errno;
  }
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0) return absl::OkStatus();
  unlink(path.c_str());
  return ErrnoError(error, path);
}

bool CanBeTyped(const std::string& path) {
  return path.size() <= kMaxTypedPath &&
         std::all_of(path.begin(), path.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') || c == '/' || c == '.' || c == '_' ||
                  c == '-';
         });
}

// For a POSIX shell: everything is literal in single quotes but these.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      out += c;
    }
  }
  return out + "'";
}

// Whether it is this user's and older than an hour.
bool IsOld(const std::string& path, absl::Time now) {
  struct stat facts;
  return lstat(path.c_str(), &facts) == 0 && facts.st_uid == getuid() &&
         now - absl::TimeFromTimespec(facts.st_mtim) > kMaxAge;
}

absl::StatusOr<LaunchOrder> Parse(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  LaunchOrder order;
  try {
    json.at("argv").get_to(order.argv);
    json.at("directory").get_to(order.directory);
    json.at("environment").get_to(order.environment);
    if (json.contains("unset")) json.at("unset").get_to(order.unset);
  } catch (const nlohmann::json::exception& error) {
    return Invalid(std::string("the launch file is not valid: ") +
                   error.what());
  }
  if (order.argv.empty() || order.argv[0].empty()) {
    return Invalid("the launch file names no program");
  }
  return order;
}

}  // namespace

absl::StatusOr<LaunchFile> LaunchFile::Write(const std::string& home,
                                             const LaunchOrder& order,
                                             Random& random) {
  std::string text;
  try {
    text = nlohmann::json({{"argv", order.argv},
                           {"directory", order.directory},
                           {"environment", order.environment},
                           {"unset", order.unset}})
               .dump();
  } catch (const nlohmann::json::exception&) {
    return Error(absl::StatusCode::kInvalidArgument, "NOT_UTF8",
                 "an argument, directory or variable of the launch is not "
                 "UTF-8; rename what bears that name");
  }
  INTERCOM_ASSIGN_OR_RETURN(const std::string directory, MakeDirectory(home));
  std::string path = directory + "/" + NewUuid(random) + ".json";
  INTERCOM_RETURN_IF_ERROR(WriteNew(path, text, 0600));
  return LaunchFile(std::move(path), false);
}

absl::StatusOr<LaunchFile> LaunchFile::WriteScript(
    const std::string& home, const std::string& agent_path,
    const std::string& launch_file, Random& random) {
  std::string path = home + "/launch/" + NewUuid(random) + ".sh";
  const bool own_directory = !CanBeTyped(path);
  std::string clean_up = "rm -f \"$0\"";
  if (own_directory) {
    std::string pattern =
        std::string(kShared) + "/" + std::string(kSharedPrefix) + "XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) return ErrnoError(errno, pattern);
    path = pattern + "/run";
    clean_up += "; rmdir " + pattern;
  } else {
    INTERCOM_RETURN_IF_ERROR(MakeDirectory(home).status());
  }
  LaunchFile file(path, own_directory);
  INTERCOM_RETURN_IF_ERROR(WriteNew(path,
                                    "#!/bin/sh\n" + clean_up + "\nexec " +
                                        Quoted(agent_path) + " --launch " +
                                        Quoted(launch_file) + "\n",
                                    0700));
  return file;
}

LaunchFile::LaunchFile(LaunchFile&& other) noexcept
    : path_(std::move(other.path_)),
      own_directory_(other.own_directory_),
      kept_(std::exchange(other.kept_, true)) {}

bool LaunchFile::Withdraw() {
  kept_ = true;
  return unlink(path_.c_str()) == 0;
}

LaunchFile::~LaunchFile() {
  if (kept_) return;
  unlink(path_.c_str());
  if (own_directory_) rmdir(path_.substr(0, path_.rfind('/')).c_str());
}

absl::StatusOr<LaunchOrder> TakeLaunchFile(const std::string& path) {
  // The name decides who has it, before anything is read.
  const std::string taken = path + ".taken";
  const int fd = rename(path.c_str(), taken.c_str()) == 0
                     ? open(taken.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                     : -1;
  if (fd < 0) {
    return Error(absl::StatusCode::kNotFound, "LAUNCH_USED",
                 "there is nothing to start: " + path +
                     " is not there. A launch can be used once; ask the "
                     "coordinator for another");
  }
  struct stat facts {};
  std::string text;
  const bool mine = fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) &&
                    facts.st_uid == getuid();
  char bytes[4096];
  while (mine && text.size() <= kMaxFileBytes) {
    const ssize_t count = read(fd, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(bytes, static_cast<size_t>(count));
  }
  close(fd);
  unlink(taken.c_str());
  if (!mine) return Invalid(path + " is not a file of yours");
  if (text.size() > kMaxFileBytes) return Invalid(path + " is too large");
  return Parse(text);
}

void PruneLaunchFiles(const std::string& home, absl::Time now) {
  std::error_code failed;
  for (std::filesystem::directory_iterator at(home + "/launch", failed), end;
       !failed && at != end; at.increment(failed)) {
    const std::string path = at->path();
    if (IsOld(path, now)) unlink(path.c_str());
  }
  for (std::filesystem::directory_iterator at(kShared, failed), end;
       !failed && at != end; at.increment(failed)) {
    const std::string path = at->path();
    if (!at->path().filename().string().starts_with(kSharedPrefix)) continue;
    if (!IsOld(path, now)) continue;
    unlink((path + "/run").c_str());
    rmdir(path.c_str());
  }
}

}  // namespace intercom
