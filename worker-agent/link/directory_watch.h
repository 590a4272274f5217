#ifndef PI_INTERCOM_WORKER_AGENT_LINK_DIRECTORY_WATCH_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_DIRECTORY_WATCH_H_

#include <string>

#include "absl/time/time.h"

namespace intercom {

// Wakes up when a file of a directory appears or goes, such as a broker's
// socket.
class DirectoryWatch {
 public:
  // Watches from now on.
  explicit DirectoryWatch(const std::string& directory);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Blocks until something happened since the last call, a moment (200 ms) has
  // passed, or `timeout`: look again after it. A freed lock is noticed after
  // the moment, since waiters who try it would only wake each other.
  void Wait(absl::Duration timeout);

 private:
  const int fd_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_DIRECTORY_WATCH_H_
