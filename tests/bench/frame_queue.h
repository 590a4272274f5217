#ifndef PI_INTERCOM_TESTS_BENCH_FRAME_QUEUE_H_
#define PI_INTERCOM_TESTS_BENCH_FRAME_QUEUE_H_

#include <deque>
#include <utility>

#include "broker/base/mutex.h"

namespace intercom::bench {

// Frames of one stream in order, one write outstanding. Thread-safe.
template <typename Frame>
class FrameQueue {
 public:
  // The frame to write now, or null while an earlier one is being written.
  Frame* Push(Frame frame) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    queue_.push_back(std::move(frame));
    return writing_ ? nullptr : TakeNext();
  }
  // After a write: the frame to write now, or null.
  Frame* Next() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    writing_ = false;
    return queue_.empty() ? nullptr : TakeNext();
  }

 private:
  Frame* TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    writing_ = true;
    in_flight_ = std::move(queue_.front());
    queue_.pop_front();
    return &in_flight_;
  }

  Mutex mu_;
  std::deque<Frame> queue_ ABSL_GUARDED_BY(mu_);
  bool writing_ ABSL_GUARDED_BY(mu_) = false;
  // Read by gRPC without the lock while `writing_`.
  Frame in_flight_;
};

}  // namespace intercom::bench

#endif  // PI_INTERCOM_TESTS_BENCH_FRAME_QUEUE_H_
