#include "worker-agent/watch/watch_backlog.h"

#include <algorithm>
#include <charconv>
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

int64_t NumberOf(const std::string& key) {
  int64_t number = 0;
  std::from_chars(key.data(), key.data() + key.size(), number);
  return number;
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

void WatchBacklog::Shown(const std::string& key) {
  const auto found = said_.find(NumberOf(key));
  if (found == said_.end()) return;
  const Said said = found->second;
  // What was said after it has to be said again without what it told.
  said_.clear();
  standing_ = 0;
  omitted_ = std::max(0, omitted_ - said.omitted);
  not_before_ = clock_.Steady() + kApart;
  Drop(said.ids);
}

void WatchBacklog::Told(const std::vector<std::string>& ids) { Drop(ids); }

void WatchBacklog::Drop(const std::vector<std::string>& ids) {
  std::erase_if(waiting_, [&ids](const WaitingEvent& waiting) {
    return std::find(ids.begin(), ids.end(), waiting.id) != ids.end();
  });
  Update();
}

void WatchBacklog::Update() {
  const size_t count = std::min(waiting_.size(), kMaxBatch);
  std::vector<std::string> ids;
  for (size_t i = 0; i < count; ++i) ids.push_back(waiting_[i].id);
  if (standing_ != 0) {
    const Said& said = said_[standing_];
    if (said.ids == ids && said.omitted == omitted_) return;
  }
  if (ids.empty()) {
    if (std::exchange(standing_, 0) != 0) say_(std::nullopt);
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
  standing_ = next_number_++;
  said_[standing_] = {.ids = ids, .omitted = omitted_};
  if (said_.size() > kMaxSaid) said_.erase(said_.begin());
  const std::vector<WaitingEvent> batch(
      waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  // Of an earlier agent of the session no bulletin has the same.
  say_(WatchBulletin{.key = std::to_string(standing_) + ":" + ids.front(),
                     .ids = std::move(ids),
                     .content = WatchText(batch, omitted_),
                     .summary = WatchSummary(batch, omitted_)});
}

}  // namespace intercom
