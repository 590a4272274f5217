#include "broker/work/event_log.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"

namespace intercom {
namespace {

absl::Status CursorInvalid() {
  return Error(absl::StatusCode::kInvalidArgument, "CURSOR_INVALID",
               "the cursor is not one of an event; watch without one, or with "
               "that of an earlier response");
}

absl::Status CursorExpired(std::string_view why) {
  return Error(absl::StatusCode::kOutOfRange, "CURSOR_EXPIRED",
               std::string(why) +
                   "; look at the lists, and watch anew without a cursor");
}

v1::WatchEventsResponse Describe(const LoggedEvent& event) {
  v1::WatchEventsResponse told;
  if (event.delivery == nullptr) {
    told = *event.other;
  } else {
    v1::DeliveryChange& change = *told.mutable_delivery();
    v1::DeliverySummary& delivery = *change.mutable_delivery();
    delivery = *event.delivery;
    delivery.set_recipient_session_id(event.status.recipient_session_id);
    delivery.set_state(event.status.state);
    delivery.set_end(event.status.end);
    // Where it waits from the start, the summary says since when.
    if (event.status.wait_reason != delivery.wait_reason()) {
      *delivery.mutable_waiting_since() = ToProto(event.at);
    }
    delivery.set_wait_reason(event.status.wait_reason);
    if (event.status.wait_reason == v1::WAIT_REASON_UNSPECIFIED) {
      delivery.clear_waiting_since();
    }
    *delivery.mutable_changed_at() = ToProto(event.at);
    delivery.set_run_id(event.run_id);
    *change.mutable_latency() = ToProtoDuration(event.latency);
    told.set_workspace_root(event.root().empty() ? event.recipient_root
                                                 : event.root());
  }
  *told.mutable_at() = ToProto(event.at);
  return told;
}

}  // namespace

const std::string& LoggedEvent::root() const {
  return delivery == nullptr ? other->workspace_root()
                             : delivery->sender().workspace_root();
}

void EventLog::Append(LoggedEvent event) {
  std::map<int64_t, Wake> woken;
  {
    MutexLock lock(mu_);
    const size_t slot = static_cast<size_t>(end_) % kKept;
    if (slot == ring_.size()) {
      ring_.push_back(std::move(event));
    } else {
      // What was there is dropped behind the lock.
      std::swap(ring_[slot], event);
    }
    ++end_;
    woken = TakeWaiting();
  }
  for (auto& [reader, wake] : woken) wake();
}

int64_t EventLog::End() const {
  MutexLock lock(mu_);
  return end_;
}

std::string EventLog::CursorOf(int64_t place) const {
  return start_id_ + "." + std::to_string(place);
}

absl::StatusOr<int64_t> EventLog::PlaceOf(std::string_view cursor) const {
  const size_t dot = cursor.rfind('.');
  if (dot == std::string_view::npos) return CursorInvalid();
  const std::string_view digits = cursor.substr(dot + 1);
  int64_t place = -1;
  const auto [at, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), place);
  if (error != std::errc() || at != digits.data() + digits.size() ||
      place < 0) {
    return CursorInvalid();
  }
  if (cursor.substr(0, dot) != start_id_) {
    return CursorExpired("the cursor is of another broker, which has left");
  }
  MutexLock lock(mu_);
  if (place > end_) return CursorInvalid();
  if (absl::Status kept = CheckPlace(place); !kept.ok()) return kept;
  return place;
}

absl::Status EventLog::CheckPlace(int64_t place) const {
  if (place >= end_ - static_cast<int64_t>(ring_.size())) {
    return absl::OkStatus();
  }
  return CursorExpired("what came after the cursor is not kept any more");
}

absl::StatusOr<EventLog::Found> EventLog::After(int64_t place,
                                                std::string_view root,
                                                int64_t reader, Wake wake) {
  std::optional<LoggedEvent> found;
  {
    MutexLock lock(mu_);
    if (!closed_.ok()) return closed_;
    if (absl::Status kept = CheckPlace(place); !kept.ok()) return kept;
    while (place < end_ && !found.has_value()) {
      const LoggedEvent& event = ring_[static_cast<size_t>(place++) % kKept];
      if (root.empty() || event.IsOf(root)) found = event;
    }
    if (!found.has_value()) waiting_[reader] = std::move(wake);
  }
  if (!found.has_value()) return Found{place, nullptr};
  auto told = std::make_shared<v1::WatchEventsResponse>(Describe(*found));
  told->set_cursor(CursorOf(place));
  return Found{place, std::move(told)};
}

void EventLog::Forget(int64_t reader) {
  Wake dropped;
  {
    MutexLock lock(mu_);
    auto node = waiting_.extract(reader);
    if (node) dropped = std::move(node.mapped());
  }
}

void EventLog::Close(absl::Status status) {
  std::map<int64_t, Wake> woken;
  {
    MutexLock lock(mu_);
    if (closed_.ok()) closed_ = std::move(status);
    woken = TakeWaiting();
  }
  for (auto& [reader, wake] : woken) wake();
}

std::map<int64_t, EventLog::Wake> EventLog::TakeWaiting() {
  return std::exchange(waiting_, {});
}

}  // namespace intercom
