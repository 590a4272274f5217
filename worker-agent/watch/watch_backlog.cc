#include "worker-agent/watch/watch_backlog.h"

#include <algorithm>
#include <utility>

namespace intercom {
namespace {

constexpr size_t kMaxBatch = 4;
constexpr size_t kMaxWaiting = 64;
constexpr size_t kMaxSaid = 8;
constexpr absl::Duration kApart = absl::Seconds(1);

bool MayGiveWay(const WaitingEvent& waiting) {
  return waiting.event.kind == WatchEvent::Kind::kLine && !waiting.event.last;
}

}  // namespace

WatchBacklog::WatchBacklog(TaskRunner& runner, const Clock& clock, Say say)
    : clock_(clock),
      say_(std::move(say)),
      gate_(std::make_shared<PostGate>(runner)),
      not_before_(clock.Steady()) {}

void WatchBacklog::Add(WaitingEvent event) {
  if (waiting_.size() >= kMaxWaiting) {
    // An end is worth more than a line, and a new line than an old one.
    const auto old =
        std::find_if(waiting_.begin(), waiting_.end(), &MayGiveWay);
    ++omitted_;
    if (old == waiting_.end()) return Update();
    waiting_.erase(old);
  }
  waiting_.push_back(std::move(event));
  Update();
}

int WatchBacklog::Remove(const std::string& watch) {
  const size_t removed = std::erase_if(
      waiting_,
      [&watch](const WaitingEvent& waiting) { return waiting.watch == watch; });
  Update();
  return static_cast<int>(removed);
}

void WatchBacklog::Told(const std::vector<std::string>& ids) {
  const auto shown =
      std::find_if(said_.rbegin(), said_.rend(),
                   [&ids](const Said& said) { return said.ids == ids; });
  if (shown != said_.rend()) {
    omitted_ = std::max(0, omitted_ - shown->omitted);
    not_before_ = clock_.Steady() + kApart;
    // What was said after it has to be said again without what it told.
    said_.clear();
    is_said_ = false;
  }
  std::erase_if(waiting_, [&ids](const WaitingEvent& waiting) {
    return std::find(ids.begin(), ids.end(), waiting.id) != ids.end();
  });
  Update();
}

void WatchBacklog::Update() {
  const size_t count = std::min(waiting_.size(), kMaxBatch);
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(waiting_[i].id);
  if (is_said_ && said_.back().ids == ids && said_.back().omitted == omitted_) {
    return;
  }
  if (ids.empty()) {
    if (std::exchange(is_said_, false)) say_(std::nullopt);
    return;
  }
  const absl::Duration now = clock_.Steady();
  if (now < not_before_) {
    if (std::exchange(update_is_posted_, true)) return;
    gate_->PostDelayed(
        [this] {
          update_is_posted_ = false;
          Update();
        },
        not_before_ - now);
    return;
  }
  is_said_ = true;
  said_.push_back({.ids = ids, .omitted = omitted_});
  if (said_.size() > kMaxSaid) said_.pop_front();
  const std::vector<WaitingEvent> batch(
      waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  say_(WatchBulletin{.ids = std::move(ids),
                     .content = WatchText(batch, omitted_),
                     .summary = WatchSummary(batch, omitted_)});
}

}  // namespace intercom
