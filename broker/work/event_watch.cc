#include "broker/work/event_watch.h"

#include "broker/base/error.h"
#include "broker/base/proto_time.h"

namespace intercom {

absl::StatusOr<std::shared_ptr<const v1::WatchEventsResponse>>
EventWatch::Take() {
  if (!started_) {
    started_ = true;
    auto start = std::make_shared<v1::WatchEventsResponse>();
    start->set_cursor(log_.CursorOf(place_));
    *start->mutable_at() = ToProto(options_.now);
    start->mutable_start()->set_broker_version(options_.broker_version);
    return start;
  }
  auto found = log_.After(place_, options_.root, options_.reader, wake_);
  if (!found.ok()) {
    if (absl::IsOutOfRange(found.status())) {
      return Error(absl::StatusCode::kResourceExhausted, "WATCH_TOO_SLOW",
                   "more than 8,192 events wait for this client, and the first "
                   "of them are gone; look at the lists, watch anew without a "
                   "cursor, and read faster");
    }
    return found.status();
  }
  place_ = found->place;
  return std::move(found->event);
}

}  // namespace intercom
