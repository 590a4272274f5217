#ifndef PI_INTERCOM_BROKER_WORK_OVERVIEW_WATCH_H_
#define PI_INTERCOM_BROKER_WORK_OVERVIEW_WATCH_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/mutex.h"
#include "broker/storage/state_runner.h"
#include "broker/work/overview.h"
#include "broker/work/watch.h"

namespace intercom {

// Shows the overview to those who watch: at once, and again 250 ms after the
// first of the changes since, so at most four times a second. Those who watch
// the same share one message; each keeps only the newest. Without a change
// nothing is done and no timer runs, but for the one change that time alone
// will bring.
//
// On the state's thread.
class OverviewWatch {
 public:
  static constexpr absl::Duration kAtMostEvery = absl::Milliseconds(250);

  using Response = v1::WatchOverviewResponse;

  // All must outlive this object.
  OverviewWatch(StateRunner& runner, Overview& overview, const Clock& clock)
      : runner_(runner), overview_(overview), clock_(clock) {}

  // Begins to watch one workspace, or everything where `root` is empty. The
  // first overview is there at once.
  std::shared_ptr<Watch<Response>> Begin(std::string root, WatchWake wake,
                                         WatchSeats::Seat seat);

  // Something that is shown may have changed. Costs nothing while nobody
  // watches.
  void OnChanged();

  // Every watch ends with `status`.
  void Close(const absl::Status& status);

 private:
  class Slot;
  // A place whose watch was given up is null when it is locked.
  struct Watcher {
    std::string root;
    std::weak_ptr<Slot> slot;
  };

  void Publish();
  void PublishTo(const std::vector<std::shared_ptr<Slot>>& slots,
                 const std::string& root);
  // Publishes then although nothing changes, if that is sooner than what is
  // planned.
  void PlanChange(absl::Duration in);

  StateRunner& runner_;
  Overview& overview_;
  const Clock& clock_;
  std::vector<Watcher> watchers_;
  // Whether a publication is on its way.
  bool is_due_ = false;
  // In steady time; of the plan with the number `plan_`. Infinite without one.
  absl::Duration planned_at_ = absl::InfiniteDuration();
  int64_t plan_ = 0;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_OVERVIEW_WATCH_H_
