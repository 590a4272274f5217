#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "broker/base/error.h"
#include "broker/base/home.h"
#include "nlohmann/json.hpp"
#include "worker-agent/cli/doctor_state.h"

namespace intercom {
namespace {

namespace fs = std::filesystem;

std::optional<PathFacts> FactsOf(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return PathFacts{.is_directory = S_ISDIR(facts.st_mode),
                   .is_ours = facts.st_uid == getuid(),
                   .mode = static_cast<int>(facts.st_mode & 07777),
                   .bytes = facts.st_size};
}

// As the broker decides it at its start.
std::string ForeignFileSystem(uint32_t type) {
  switch (type) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case SMB_SUPER_MAGIC:
    case 0xff534d42:
    case 0xfe534d42:
      return "an SMB share";
    case 0x65735546:
      return "a FUSE file system";
    case 0x00c36400:
      return "Ceph";
    case V9FS_MAGIC:
      return "a 9P share";
    case AFS_SUPER_MAGIC:
      return "AFS";
    default:
      return "";
  }
}

void ReadFileSystem(StateFacts& facts) {
  fs::path nearest = facts.home;
  struct statfs where {};
  while (statfs(nearest.c_str(), &where) != 0) {
    if (!nearest.has_relative_path()) return;
    nearest = nearest.parent_path();
  }
  facts.foreign_file_system =
      ForeignFileSystem(static_cast<uint32_t>(where.f_type));
  facts.free_bytes = static_cast<int64_t>(where.f_bavail) *
                     static_cast<int64_t>(where.f_bsize);
}

void ReadEndpoint(StateFacts& facts) {
  std::error_code ignored;
  facts.has_endpoint = fs::exists(EndpointPath(facts.home), ignored);
  if (!facts.has_endpoint) return;
  std::ifstream file(EndpointPath(facts.home), std::ios::binary);
  if (!file) {
    facts.endpoint_problem = "can't be read";
    return;
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto json = nlohmann::json::parse(text, /*cb=*/nullptr,
                                          /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("port") ||
      !json["port"].is_number_integer()) {
    facts.endpoint_problem = "names no port";
  }
}

}  // namespace

StateFacts ReadState(const std::string& home) {
  StateFacts facts;
  facts.home = home;
  if (const absl::Status status = CheckSocketPath(SocketPath(home));
      !status.ok()) {
    facts.socket_path_problem = MessageOf(status);
  }
  ReadFileSystem(facts);
  facts.directory = FactsOf(home);
  facts.token = FactsOf(TokenPath(home));
  facts.store = FactsOf(DatabasePath(home));
  ReadEndpoint(facts);
  const std::string aside =
      fs::path(DatabasePath(home)).filename().string() + ".corrupt-";
  std::error_code error;
  for (fs::directory_iterator at(home, error), end; !error && at != end;
       at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (name.starts_with(aside) && !name.ends_with("-wal")) {
      facts.kept_aside.push_back(name);
    }
  }
  std::sort(facts.kept_aside.begin(), facts.kept_aside.end());
  for (fs::directory_iterator at(LogDirectory(home), error), end;
       !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const auto bytes = at->file_size(ignored);
    if (!ignored) facts.log_bytes += static_cast<int64_t>(bytes);
  }
  return facts;
}

}  // namespace intercom
