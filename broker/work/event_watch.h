#ifndef PI_INTERCOM_BROKER_WORK_EVENT_WATCH_H_
#define PI_INTERCOM_BROKER_WORK_EVENT_WATCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "broker/work/event_log.h"
#include "broker/work/watch.h"

namespace intercom {

// The events from one place of the log on: begins with a WatchStart. Has no
// queue of its own: one that lags behind the log by all that it keeps is at its
// end (RESOURCE_EXHAUSTED, WATCH_TOO_SLOW).
class EventWatch final : public Watch<v1::WatchEventsResponse> {
 public:
  // `reader` is this watch's alone. Only events of the workspace `root`, or
  // all where it is empty. `log` must outlive this object.
  struct Options {
    int64_t reader = 0;
    int64_t place = 0;
    std::string root;
    std::string broker_version;
    absl::Time now;
  };
  EventWatch(EventLog& log, Options options, WatchWake wake,
             WatchSeats::Seat seat)
      : log_(log),
        options_(std::move(options)),
        wake_(std::move(wake)),
        seat_(std::move(seat)),
        place_(options_.place) {}
  ~EventWatch() override { log_.Forget(options_.reader); }

  absl::StatusOr<std::shared_ptr<const v1::WatchEventsResponse>> Take()
      override;

 private:
  EventLog& log_;
  const Options options_;
  const WatchWake wake_;
  const WatchSeats::Seat seat_;
  bool started_ = false;
  int64_t place_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_EVENT_WATCH_H_
