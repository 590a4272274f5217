#include "broker/config/snapshot_cache.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "broker/base/status_macros.h"

namespace intercom {
namespace {

// A change within the granularity of a file's times leaves no trace in them.
constexpr absl::Duration kSettled = absl::Seconds(2);
constexpr absl::Duration kYoung = absl::Seconds(1);
constexpr absl::Duration kPause = absl::Milliseconds(150);

}  // namespace

absl::StatusOr<ReadConfig> ReadFresh(const ConfigFile& file,
                                     const ReadTiming& timing) {
  for (bool again = true;; again = false) {
    INTERCOM_ASSIGN_OR_RETURN(ConfigBytes read, file.ReadBytes());
    auto config = WorkspaceConfig::Parse(read.bytes, file.path());
    if (config.ok()) {
      return ReadConfig{.bytes = std::move(read.bytes),
                        .config = *std::move(config),
                        .identity = read.identity};
    }
    const bool young = timing.now() - read.identity.modified < kYoung;
    if (!again || !young || !timing.pause(kPause)) return config.status();
  }
}

absl::StatusOr<ConfigSnapshotPtr> SnapshotCache::Refresh(
    const ConfigFile& file, const ReadTiming& timing) {
  if (trusted_.has_value()) {
    const auto identity = file.Stat();
    if (identity.ok() && *identity == *trusted_) return snapshot_;
  }
  const absl::Time now = timing.now();
  auto read = ReadFresh(file, timing);
  if (!read.ok()) {
    trusted_.reset();
    return read.status();
  }
  return Store(file, *std::move(read), now);
}

ConfigSnapshotPtr SnapshotCache::Store(const ConfigFile& file, ReadConfig read,
                                       absl::Time hashed_at) {
  const absl::Time touched =
      std::max(read.identity.modified, read.identity.changed);
  trusted_.reset();
  if (hashed_at - touched > kSettled) trusted_ = read.identity;
  if (snapshot_ == nullptr || snapshot_->hash != read.config.hash()) {
    std::string hash = read.config.hash();
    snapshot_ = std::make_shared<const ConfigSnapshot>(
        ConfigSnapshot{.root = file.root(),
                       .config = std::move(read.config),
                       .hash = std::move(hash),
                       .bytes = std::move(read.bytes)});
  }
  return snapshot_;
}

}  // namespace intercom
