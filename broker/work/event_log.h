#ifndef PI_INTERCOM_BROKER_WORK_EVENT_LOG_H_
#define PI_INTERCOM_BROKER_WORK_EVENT_LOG_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/mutex.h"
#include "broker/storage/delivery_store.h"
#include "intercom/v1/inspect.pb.h"

namespace intercom {

// One thing that happened. Of a delivery, which is what happens most, only what
// changed: the rest is shared, and the message is made where it is read.
struct LoggedEvent {
  absl::Time at;
  // Of a delivery: what never changes of it; otherwise null.
  std::shared_ptr<const v1::DeliverySummary> delivery;
  // How it is now.
  DeliveryStatus status;
  // The run that it opened. May be empty.
  std::string run_id;
  absl::Duration latency;
  // Everything else: the event without its cursor and time.
  std::shared_ptr<const v1::WatchEventsResponse> other;

  // Of a delivery or an ask: the recipient's workspace. May be empty.
  std::string recipient_root;

  // Of the sender, the session, the supervisor. May be empty.
  const std::string& root() const;
  bool IsOf(std::string_view workspace_root) const {
    return root() == workspace_root || recipient_root == workspace_root;
  }
};

// The last events of this broker, in order. Only memory: cursors of another
// broker are known as such.
//
// Thread-safe: written on the state's thread, read from wherever a stream is
// served. One lock, held for a few lines.
class EventLog {
 public:
  static constexpr size_t kKept = 8192;

  // `start_id` tells this broker's cursors from others': letters, digits and
  // hyphens.
  explicit EventLog(std::string start_id) : start_id_(std::move(start_id)) {}

  void Append(LoggedEvent event) ABSL_LOCKS_EXCLUDED(mu_);

  // The place after the last event.
  int64_t End() const ABSL_LOCKS_EXCLUDED(mu_);
  // The place that `cursor` names. INVALID_ARGUMENT (CURSOR_INVALID),
  // OUT_OF_RANGE (CURSOR_EXPIRED).
  absl::StatusOr<int64_t> PlaceOf(std::string_view cursor) const
      ABSL_LOCKS_EXCLUDED(mu_);
  std::string CursorOf(int64_t place) const;

  // What is behind a place: the first event of `root`, sent from there or to
  // there (of any, if it is empty), and the place behind it. Without one the
  // place behind all that was looked at.
  struct Found {
    int64_t place = 0;
    // Null: there is none yet.
    std::shared_ptr<const v1::WatchEventsResponse> event;
  };
  using Wake = std::function<void()>;
  // Without an event `wake` is kept under `reader` and called, once and on the
  // state's thread, when there is another one, or at the end. OUT_OF_RANGE
  // (CURSOR_EXPIRED) where events behind the place are gone, and what Close
  // said.
  absl::StatusOr<Found> After(int64_t place, std::string_view root,
                              int64_t reader, Wake wake)
      ABSL_LOCKS_EXCLUDED(mu_);
  // Drops what is kept under `reader`.
  void Forget(int64_t reader) ABSL_LOCKS_EXCLUDED(mu_);

  // From now on nobody reads: everybody gets `status`.
  void Close(absl::Status status) ABSL_LOCKS_EXCLUDED(mu_);

 private:
  absl::Status CheckPlace(int64_t place) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  std::map<int64_t, Wake> TakeWaiting() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  const std::string start_id_;
  mutable Mutex mu_;
  // The event of number n is at n % kKept; grows to kKept once.
  std::vector<LoggedEvent> ring_ ABSL_GUARDED_BY(mu_);
  // How many there ever were: the number of the next one.
  int64_t end_ ABSL_GUARDED_BY(mu_) = 0;
  std::map<int64_t, Wake> waiting_ ABSL_GUARDED_BY(mu_);
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_EVENT_LOG_H_
