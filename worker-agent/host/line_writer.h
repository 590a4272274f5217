#ifndef PI_INTERCOM_WORKER_AGENT_HOST_LINE_WRITER_H_
#define PI_INTERCOM_WORKER_AGENT_HOST_LINE_WRITER_H_

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <thread>

#include "broker/base/mutex.h"

namespace intercom {

// Writes lines to a descriptor on a thread of its own, in the order of Write.
// The queue is bounded in bytes: above a mark the writer says that its reader
// is slow, and above the limit that it is gone. Thread-safe.
class LineWriter {
 public:
  struct Limits {
    // Blocked above the first, no longer at or under the second.
    size_t blocked_bytes = 256 << 10;
    size_t resumed_bytes = 64 << 10;
    // Above it the reader counts as gone.
    size_t max_bytes = 32 << 20;
  };

  struct Events {
    // blocked() changed, perhaps more than once. Called on any thread.
    std::function<void()> blocked_changed;
    // Nothing can be written any more. Called once, on any thread.
    std::function<void()> broken;
  };

  // `fd` is neither owned nor closed, and must outlive this object. Events may
  // still be called until the destructor returns.
  LineWriter(int fd, Limits limits, Events events);
  // Stops without writing what is still queued.
  ~LineWriter();
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;

  // Queues `line`, to which it adds the LF. Never blocks. Does nothing once
  // the writer is broken.
  void Write(std::string line) ABSL_LOCKS_EXCLUDED(mu_);

  // Whether the reader does not keep up.
  bool blocked() ABSL_LOCKS_EXCLUDED(mu_);

  // Waits until everything queued is written, broken, or `milliseconds` have
  // passed. True if nothing is left.
  bool Flush(int milliseconds) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Writes all of `bytes`; false when stopped or broken.
  bool WriteAll(std::string_view bytes);
  void Break() ABSL_LOCKS_EXCLUDED(mu_);
  // Brings `blocked_` up to date. True if it changed.
  bool UpdateBlocked() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const int fd_;
  const Limits limits_;
  const Events events_;
  // Readable once the writer has to stop.
  const int stop_fd_;

  Mutex mu_;
  CondVar changed_;
  std::deque<std::string> queue_ ABSL_GUARDED_BY(mu_);
  // Of the queue and the line being written.
  size_t bytes_ ABSL_GUARDED_BY(mu_) = 0;
  bool blocked_ ABSL_GUARDED_BY(mu_) = false;
  bool broken_ ABSL_GUARDED_BY(mu_) = false;
  bool stopping_ ABSL_GUARDED_BY(mu_) = false;
  // Last, so that everything above exists before it runs.
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_HOST_LINE_WRITER_H_
