#ifndef PI_INTERCOM_BROKER_CONFIG_LANE_POOL_H_
#define PI_INTERCOM_BROKER_CONFIG_LANE_POOL_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"
#include "broker/config/snapshot_cache.h"

namespace intercom {

struct LaneOptions {
  // A call is answered at the latest this long after it was made.
  absl::Duration deadline = absl::Seconds(2);
  // A lane without work ends after about this long.
  absl::Duration idle = absl::Seconds(5);
  size_t max_lanes = 64;
  // Calls that wait for an answer, in all lanes.
  size_t max_calls = 4096;
  // Jobs that wait in one lane.
  size_t max_jobs = 256;
};

// Lanes, each a thread that runs jobs one after the other and may hang without
// stopping another lane; and calls, each answered exactly once: by a job, at
// its deadline, or by Stop.
//
// Thread-safe. Shared with its threads, for a hung one outlives Stop; what such
// a thread still does touches neither runner nor clock.
class LanePool : public std::enable_shared_from_this<LanePool> {
 public:
  using CallId = uint64_t;
  // Runs on the lane's thread, with the cache that belongs to the lane.
  using Job = absl::AnyInvocable<void(SnapshotCache&)>;
  using Fail = absl::AnyInvocable<void(absl::Status)>;

  // `runner` and `clock` must live until Stop has returned. Held by a
  // shared_ptr only.
  LanePool(TaskRunner& runner, const Clock& clock, LaneOptions options);

  const LaneOptions& options() const { return options_; }

  // Registers a call. When its deadline passes, `fail` is called on the runner
  // with DEADLINE_EXCEEDED (CONFIG_TIMEOUT) and `timeout_message`. Nothing is
  // returned, and `fail` posted, if there are too many calls.
  std::optional<CallId> Begin(std::string timeout_message, Fail fail)
      ABSL_LOCKS_EXCLUDED(mu_);
  bool IsPending(CallId call) const ABSL_LOCKS_EXCLUDED(mu_);
  // Posts `answer` and forgets the call, unless it was answered before.
  void Answer(CallId call, Task answer) ABSL_LOCKS_EXCLUDED(mu_);

  // Appends to the lane `key`. RESOURCE_EXHAUSTED (LANES_FULL) if there are too
  // many lanes or jobs; UNAVAILABLE (SHUTTING_DOWN) after Stop.
  absl::Status Enqueue(const std::string& key, Job job)
      ABSL_LOCKS_EXCLUDED(mu_);

  // For jobs. Wall time; the infinite past after Stop.
  absl::Time Now() const ABSL_LOCKS_EXCLUDED(mu_);
  // Waits in the lane for `duration`. False after Stop.
  bool Pause(absl::Duration duration) ABSL_LOCKS_EXCLUDED(mu_);
  // Calls `function`, which must not block: Stop waits for it. False, without
  // the call, after Stop.
  bool CallOut(const std::function<void()>& function) ABSL_LOCKS_EXCLUDED(mu_);

  // Posts UNAVAILABLE (SHUTTING_DOWN) to every call, drops waiting jobs and
  // lets the threads end; does not wait for one that hangs.
  void Stop() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  struct Call {
    absl::Duration deadline;
    std::string timeout_message;
    Fail fail;
  };
  // Guarded by mu_, but for `cache`, which is its thread's.
  struct Lane {
    std::deque<Job> jobs;
    bool busy = false;
    bool retired = false;
    absl::Duration idle_since;
    CondVar wake;
    SnapshotCache cache;
  };

  void Run(const std::shared_ptr<Lane>& lane) ABSL_LOCKS_EXCLUDED(mu_);
  // On the runner: fails calls whose deadline passed, ends idle lanes.
  void Tick() ABSL_LOCKS_EXCLUDED(mu_);
  void PostTick(absl::Duration delay);
  // Ends lanes that have been idle for `age`.
  void RetireIdle(absl::Duration age) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  TaskRunner& runner_;
  const Clock& clock_;
  const LaneOptions options_;

  mutable Mutex mu_;
  bool stopped_ ABSL_GUARDED_BY(mu_) = false;
  // At most one timer is under way, never further ahead than a new call's
  // deadline.
  bool ticking_ ABSL_GUARDED_BY(mu_) = false;
  CallId last_call_ ABSL_GUARDED_BY(mu_) = 0;
  // In the order of their deadlines.
  std::map<CallId, Call> calls_ ABSL_GUARDED_BY(mu_);
  std::map<std::string, std::shared_ptr<Lane>> lanes_ ABSL_GUARDED_BY(mu_);
  // Lane threads that use the runner or run a caller's function.
  int called_out_ ABSL_GUARDED_BY(mu_) = 0;
  CondVar came_back_;
  CondVar pause_over_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_CONFIG_LANE_POOL_H_
