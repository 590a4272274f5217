#ifndef PI_INTERCOM_BROKER_WORK_WATCH_H_
#define PI_INTERCOM_BROKER_WORK_WATCH_H_

#include <atomic>
#include <functional>
#include <memory>

#include "absl/status/statusor.h"

namespace intercom {

// What one stream shows, taken response by response as its client reads: what
// was not taken costs the same, however much it is. Ends when it is destroyed.
//
// Take is called from one place at a time, on any thread.
template <typename Response>
class Watch {
 public:
  virtual ~Watch() = default;

  // The next response. Null: none now; the wake that the watch was made with
  // is called when there may be one. An error is its end.
  virtual absl::StatusOr<std::shared_ptr<const Response>> Take() = 0;
};

// Called on any thread; only enqueues. It may come for nothing.
using WatchWake = std::function<void()>;

// How many may watch at once. Thread-safe.
class WatchSeats {
 public:
  static constexpr int kMost = 64;

  // Held for as long as its stream is open. Null where there is none left. May
  // outlive the seats.
  using Seat = std::shared_ptr<void>;
  Seat Take() {
    if (taken_->fetch_add(1) >= kMost) {
      --*taken_;
      return nullptr;
    }
    return Seat(taken_.get(), [taken = taken_](void*) { --*taken; });
  }
  int taken() const { return taken_->load(); }

 private:
  const std::shared_ptr<std::atomic<int>> taken_ =
      std::make_shared<std::atomic<int>>(0);
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_WATCH_H_
