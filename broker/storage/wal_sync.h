#ifndef PI_INTERCOM_BROKER_STORAGE_WAL_SYNC_H_
#define PI_INTERCOM_BROKER_STORAGE_WAL_SYNC_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace intercom {

// Makes committed transactions survive a loss of power: fdatasync on the -wal
// file, from another thread than the writer's. Holds the file open for good;
// the writer's Database keeps the same file while it is open. Thread-safe.
class WalSync {
 public:
  // Opens the -wal file of the database at `path`, which a Database has open
  // and has read or written once, and makes the folder's entries durable.
  static absl::StatusOr<WalSync> Open(const std::string& path);

  WalSync(WalSync&& other) noexcept;
  WalSync& operator=(WalSync&&) = delete;
  ~WalSync();

  // Blocks for the disk. OK: everything committed before the call is durable.
  // After any error nothing is known of what is on the disk, and a repeat may
  // claim success falsely: never retry.
  absl::Status Sync() const;

 private:
  explicit WalSync(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_WAL_SYNC_H_
