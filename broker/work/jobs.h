#ifndef PI_INTERCOM_BROKER_WORK_JOBS_H_
#define PI_INTERCOM_BROKER_WORK_JOBS_H_

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/storage/job_store.h"
#include "broker/storage/state_runner.h"
#include "broker/work/fences.h"

namespace intercom {

// The one way in which jobs change: on disk, then in memory, then told.
//
// Not thread-safe: everything is called on the state's thread.
class Jobs {
 public:
  // After this long an end that could not be stored is tried again.
  static constexpr absl::Duration kEndAgain = absl::Seconds(5);

  using OnChanged = absl::AnyInvocable<void(const JobRow&)>;
  using States = std::vector<v1::Job::State>;
  using Change = std::function<absl::Status(JobRow&, Effects&)>;
  using Then = absl::AnyInvocable<void(const absl::Status&)>;

  // All must outlive this object.
  Jobs(StateRunner& runner, JobStore& store, Fences& fences, const Clock& clock)
      : runner_(runner), store_(store), fences_(fences), clock_(clock) {}

  // Called after the commit of each change, in this order. Before Load.
  void AddOnChanged(OnChanged on_changed) {
    on_changed_.push_back(std::move(on_changed));
  }

  // Reads the open jobs anew: after a failed commit.
  absl::Status Load() { return fences_.Load(store_); }
  // The same at start, before any attach: they are left over from the last
  // broker.
  absl::Status LoadAtStart();

  // What is left over is over, but for launches on their way. Nothing is
  // repeated. An irrevocable step that was begun is uncertain. Tries again
  // until it is stored.
  void Recover();

  // Inside a command: stores a job, new or changed.
  absl::Status Put(const JobRow& row, Effects& effects);

  // Inside a command: stores that `told` is told of a job, which changes
  // nothing else of it. False if it was told before, or there is no such job.
  absl::StatusOr<bool> MarkTold(const std::string& job_id, Told told,
                                Effects& effects);

  // Posts a change of a job that is in one of the states `from`; in another
  // one, nothing happens. `change` runs inside the command. `then` is called
  // when the change is durable, or with why it failed.
  void Advance(const std::string& job_id, States from, Change change,
               Then then);

  // Ends a job that is in one of the states `from`, trying again until it is
  // stored.
  void End(const std::string& job_id, States from, v1::Job::State state,
           std::string reason, std::string detail);

 private:
  StateRunner& runner_;
  JobStore& store_;
  Fences& fences_;
  const Clock& clock_;
  std::vector<OnChanged> on_changed_;
  // Jobs of the last broker.
  std::set<std::string> left_over_;
  // Jobs whose end could not be stored and is tried again.
  std::set<std::string> ending_again_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_WORK_JOBS_H_
