#include "broker/work/overview_watch.h"

#include <map>

#include "broker/base/error.h"
#include "spdlog/spdlog.h"

namespace intercom {

// What one stream is to show next. Thread-safe.
class OverviewWatch::Slot final : public Watch<Response> {
 public:
  Slot(WatchWake wake, WatchSeats::Seat seat)
      : wake_(std::move(wake)), seat_(std::move(seat)) {}

  absl::StatusOr<std::shared_ptr<const Response>> Take() override
      ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    if (!closed_.ok()) return closed_;
    return std::exchange(newest_, nullptr);
  }

  void Show(std::shared_ptr<const Response> newest) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(mu_);
      std::swap(newest_, newest);
    }
    wake_();
  }
  void Close(absl::Status status) ABSL_LOCKS_EXCLUDED(mu_) {
    {
      MutexLock lock(mu_);
      closed_ = std::move(status);
    }
    wake_();
  }

 private:
  const WatchWake wake_;
  const WatchSeats::Seat seat_;
  Mutex mu_;
  std::shared_ptr<const Response> newest_ ABSL_GUARDED_BY(mu_);
  absl::Status closed_ ABSL_GUARDED_BY(mu_);
};

std::shared_ptr<Watch<OverviewWatch::Response>> OverviewWatch::Begin(
    std::string root, WatchWake wake, WatchSeats::Seat seat) {
  auto slot = std::make_shared<Slot>(std::move(wake), std::move(seat));
  PublishTo({slot}, root);
  watchers_.push_back({std::move(root), slot});
  return slot;
}

void OverviewWatch::OnChanged() {
  if (watchers_.empty() || is_due_) return;
  is_due_ = true;
  runner_.PostDelayedTask([this] { Publish(); }, kAtMostEvery);
}

void OverviewWatch::Publish() {
  is_due_ = false;
  std::erase_if(watchers_,
                [](const Watcher& watcher) { return watcher.slot.expired(); });
  // What was planned is planned anew.
  planned_at_ = absl::InfiniteDuration();
  ++plan_;
  std::map<std::string, std::vector<std::shared_ptr<Slot>>> by_root;
  for (const Watcher& watcher : watchers_) {
    if (auto slot = watcher.slot.lock()) {
      by_root[watcher.root].push_back(std::move(slot));
    }
  }
  for (const auto& [root, slots] : by_root) PublishTo(slots, root);
}

void OverviewWatch::PublishTo(const std::vector<std::shared_ptr<Slot>>& slots,
                              const std::string& root) {
  absl::StatusOr<Overview::Built> built = overview_.Build(root);
  if (!built.ok()) {
    spdlog::error("no overview: {}", MessageOf(built.status()));
    for (const auto& slot : slots) slot->Close(built.status());
    return;
  }
  const auto shown =
      std::make_shared<const Response>(std::move(built->response));
  for (const auto& slot : slots) slot->Show(shown);
  PlanChange(built->changes_in);
}

void OverviewWatch::PlanChange(absl::Duration in) {
  const absl::Duration at = clock_.Steady() + in;
  if (at >= planned_at_) return;
  planned_at_ = at;
  runner_.PostDelayedTask(
      [this, plan = ++plan_] {
        if (plan != plan_) return;
        planned_at_ = absl::InfiniteDuration();
        OnChanged();
      },
      in);
}

void OverviewWatch::Close(const absl::Status& status) {
  for (const Watcher& watcher : watchers_) {
    if (auto slot = watcher.slot.lock()) slot->Close(status);
  }
  watchers_.clear();
}

}  // namespace intercom
