#include "broker/server/state_directory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "broker/base/status_macros.h"
#include "nlohmann/json.hpp"

namespace intercom {
namespace {

constexpr size_t kTokenBytes = 64;

absl::Status HomeInvalid(const std::string& message) {
  return Error(absl::StatusCode::kFailedPrecondition, "HOME_INVALID",
               message +
                   "; set PI_INTERCOM_HOME to a directory of your own on a "
                   "local disk");
}

absl::Status HomeUnwritable(const std::string& home, const std::string& why) {
  return Error(absl::StatusCode::kPermissionDenied, "HOME_UNWRITABLE",
               "the state directory " + home + " can't be used: " + why +
                   "; give this user write access or set PI_INTERCOM_HOME");
}

absl::Status CheckFileSystem(const std::string& home) {
  constexpr uint32_t kNfs = NFS_SUPER_MAGIC;
  constexpr uint32_t kSmb = SMB_SUPER_MAGIC;
  constexpr uint32_t kCifs = 0xff534d42;
  constexpr uint32_t kSmb2 = 0xfe534d42;
  constexpr uint32_t kFuse = 0x65735546;
  constexpr uint32_t kCeph = 0x00c36400;
  constexpr uint32_t kNinePFs = V9FS_MAGIC;
  constexpr uint32_t kAfs = AFS_SUPER_MAGIC;
  struct statfs where {};
  if (statfs(home.c_str(), &where) != 0) {
    return HomeUnwritable(home, std::string(strerror(errno)));
  }
  switch (static_cast<uint32_t>(where.f_type)) {
    case kNfs:
    case kSmb:
    case kCifs:
    case kSmb2:
    case kFuse:
    case kCeph:
    case kNinePFs:
    case kAfs:
      return HomeInvalid("the state directory " + home +
                         " is on a network or FUSE file system, where locks "
                         "and syncs can't be relied on");
    default:
      return absl::OkStatus();
  }
}

absl::Status CheckOwner(const std::string& home) {
  struct stat facts {};
  if (lstat(home.c_str(), &facts) != 0) {
    return HomeUnwritable(home, strerror(errno));
  }
  if (!S_ISDIR(facts.st_mode)) {
    return HomeInvalid(home + " is no directory");
  }
  if (facts.st_uid != getuid()) {
    return HomeInvalid("the state directory " + home + " belongs to user " +
                       std::to_string(facts.st_uid));
  }
  if ((facts.st_mode & 0077) != 0 && chmod(home.c_str(), 0700) != 0) {
    return HomeInvalid("others can enter the state directory " + home);
  }
  if (access(home.c_str(), W_OK | X_OK) != 0) {
    return HomeUnwritable(home, strerror(errno));
  }
  return absl::OkStatus();
}

// Writes a small file completely or not at all.
absl::Status PublishFile(const std::string& path, const std::string& content) {
  const std::string temporary = path + ".new";
  const int descriptor =
      open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (descriptor < 0) return ErrnoError(errno, "can't write " + temporary);
  const ssize_t written = write(descriptor, content.data(), content.size());
  const int error = written < 0 ? errno : ENOSPC;
  const bool synced = fsync(descriptor) == 0;
  close(descriptor);
  if (written != static_cast<ssize_t>(content.size()) || !synced ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    return ErrnoError(error, "can't write " + path);
  }
  return absl::OkStatus();
}

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateDirectory>> StateDirectory::Open(
    std::string home) {
  INTERCOM_RETURN_IF_ERROR(CheckSocketPath(SocketPath(home)));
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(home).parent_path(),
                                      error);
  if (!error && mkdir(home.c_str(), 0700) != 0 && errno != EEXIST) {
    error = std::error_code(errno, std::generic_category());
  }
  if (error) return HomeUnwritable(home, error.message());
  INTERCOM_RETURN_IF_ERROR(CheckOwner(home));
  INTERCOM_RETURN_IF_ERROR(CheckFileSystem(home));
  if (mkdir(LogDirectory(home).c_str(), 0700) != 0 && errno != EEXIST) {
    return HomeUnwritable(home, strerror(errno));
  }
  auto lock = LockFile::TryAcquire(BrokerLockPath(home));
  if (!lock.ok()) {
    if (ReasonOf(lock.status()) == "LOCKED") {
      return Error(absl::StatusCode::kFailedPrecondition, "BROKER_RUNNING",
                   "a broker runs already: " + MessageOf(lock.status()));
    }
    return HomeUnwritable(home, MessageOf(lock.status()));
  }
  return std::unique_ptr<StateDirectory>(
      new StateDirectory(std::move(home), *std::move(lock)));
}

absl::StatusOr<std::string> StateDirectory::Token(Random& random) const {
  const std::string path = TokenPath(home_);
  std::string token = ReadFile(path);
  while (!token.empty() && token.back() == '\n') token.pop_back();
  if (token.size() == kTokenBytes) {
    chmod(path.c_str(), 0600);
    return token;
  }
  token = NewSecret(random);
  INTERCOM_RETURN_IF_ERROR(PublishFile(path, token + "\n"));
  return token;
}

int StateDirectory::SavedPort() const {
  const auto json = nlohmann::json::parse(ReadFile(EndpointPath(home_)),
                                          nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return 0;
  const auto port = json.find("port");
  if (port == json.end() || !port->is_number_integer()) return 0;
  const int64_t value = port->get<int64_t>();
  return value >= 1 && value <= 65535 ? static_cast<int>(value) : 0;
}

absl::Status StateDirectory::WriteEndpoint(int port) const {
  nlohmann::ordered_json json;
  json["address"] = "127.0.0.1:" + std::to_string(port);
  json["port"] = port;
  json["unixSocket"] = SocketPath(home_);
  json["pid"] = getpid();
  return PublishFile(EndpointPath(home_), json.dump(2) + "\n");
}

void StateDirectory::SocketBound() {
  struct stat facts {};
  if (stat(SocketPath(home_).c_str(), &facts) == 0) {
    socket_inode_ = facts.st_ino;
  }
}

bool StateDirectory::IsInPlace() const {
  struct stat facts {};
  return lock_->IsInPlace() && stat(SocketPath(home_).c_str(), &facts) == 0 &&
         S_ISSOCK(facts.st_mode) && facts.st_ino == socket_inode_;
}

}  // namespace intercom
