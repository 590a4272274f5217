#ifndef PI_INTERCOM_BROKER_SERVER_STATE_DIRECTORY_H_
#define PI_INTERCOM_BROKER_SERVER_STATE_DIRECTORY_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "broker/base/lock_file.h"
#include "broker/base/random.h"

namespace intercom {

// The broker's own directory: made with mode 0700, locked for the broker's
// life.
class StateDirectory {
 public:
  // Creates what is missing and takes broker.lock. FAILED_PRECONDITION:
  // * HOME_INVALID: a network or FUSE file system, whose locks and syncs can't
  //   be relied on; or a directory of another user, or one that others can
  //   enter.
  // * SOCKET_PATH_TOO_LONG.
  // * BROKER_RUNNING: another broker holds the lock; the message names its pid.
  // PERMISSION_DENIED (HOME_UNWRITABLE): it can't be created or written.
  static absl::StatusOr<std::unique_ptr<StateDirectory>> Open(std::string home);

  const std::string& home() const { return home_; }

  // The account's secret: read, or made anew.
  absl::StatusOr<std::string> Token(Random& random) const;

  // The port of the previous broker; 0 if there was none.
  int SavedPort() const;

  // Publishes where this broker listens, for command lines and grpcurl.
  absl::Status WriteEndpoint(int port) const;

  // Whether lock and socket are still those of this broker.
  bool IsInPlace() const;
  // Remembers the socket file that this broker has bound.
  void SocketBound();

 private:
  StateDirectory(std::string home, std::unique_ptr<LockFile> lock)
      : home_(std::move(home)), lock_(std::move(lock)) {}

  const std::string home_;
  const std::unique_ptr<LockFile> lock_;
  uint64_t socket_inode_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_SERVER_STATE_DIRECTORY_H_
