#ifndef PI_INTERCOM_WORKER_AGENT_LINK_DIRECTORY_WATCH_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_DIRECTORY_WATCH_H_

#include <string>

#include "absl/time/time.h"

namespace intercom {

// Wakes up when a file of a directory appears, goes, or is closed: that is also
// when a lock on it is freed.
class DirectoryWatch {
 public:
  // Watches from now on.
  explicit DirectoryWatch(const std::string& directory);
  ~DirectoryWatch();
  DirectoryWatch(const DirectoryWatch&) = delete;
  DirectoryWatch& operator=(const DirectoryWatch&) = delete;

  // Blocks until something happened since the last call, or `timeout`. May
  // return early; where the kernel has no watch left, after a moment.
  void Wait(absl::Duration timeout);

 private:
  const int fd_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_DIRECTORY_WATCH_H_
