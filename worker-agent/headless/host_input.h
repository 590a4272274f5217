#ifndef PI_INTERCOM_WORKER_AGENT_HEADLESS_HOST_INPUT_H_
#define PI_INTERCOM_WORKER_AGENT_HEADLESS_HOST_INPUT_H_

#include <cstddef>
#include <string>
#include <string_view>

namespace intercom {

// What a hosted Pi is sent and has not read yet, bounded: one that reads
// nothing of so much is stuck. Not thread-safe.
class HostInput {
 public:
  static constexpr size_t kMostBytes = 256 << 10;

  // Adds a line, whole. False, and nothing is added, where there is no room.
  bool Add(std::string_view line);

  // Writes what `fd` takes without blocking. False where it takes nothing ever
  // again.
  bool Write(int fd);

  bool empty() const { return waiting_.empty(); }

 private:
  std::string waiting_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HEADLESS_HOST_INPUT_H_
