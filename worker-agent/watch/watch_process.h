#ifndef PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_PROCESS_H_
#define PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_PROCESS_H_

#include <cstdint>
#include <functional>
#include <thread>

#include "absl/status/status.h"
#include "broker/base/clock.h"
#include "worker-agent/guard/guarded_process.h"
#include "worker-agent/watch/watch_feed.h"
#include "worker-agent/watch/watch_order.h"

namespace intercom {

// A program that is watched, read by a thread of this object's own.
// Thread-safe.
class WatchProcess {
 public:
  // All on that thread.
  struct Events {
    // First, once: the program runs, or START_FAILED; nothing follows that.
    std::function<void(const absl::Status&)> started;
    std::function<void(WatchEvent)> event;
    // Last: nothing of it runs any more.
    std::function<void()> gone;
  };

  // `clock` must outlive this object.
  WatchProcess(GuardedCommand command, const WatchOrder& order,
               const Clock& clock, Events events);
  // Begins the end without waiting for it. No event follows.
  ~WatchProcess();
  WatchProcess(const WatchProcess&) = delete;
  WatchProcess& operator=(const WatchProcess&) = delete;

  // Ends the program and all that it started. Only `gone` follows, but what is
  // on its way.
  void End() { Wake(kEnd); }

 private:
  class Reader;
  // What Wake() asks for, the bits of a number.
  static constexpr uint64_t kEnd = 1;
  static constexpr uint64_t kAbandon = uint64_t{1} << 32;
  void Wake(uint64_t what);

  // An eventfd.
  const int wake_fd_;
  // Last, so that everything above exists before it runs.
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_PROCESS_H_
