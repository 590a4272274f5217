#ifndef PI_INTERCOM_BROKER_STORAGE_SYNC_THREAD_H_
#define PI_INTERCOM_BROKER_STORAGE_SYNC_THREAD_H_

#include <cstdint>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"

namespace intercom {

// Syncs commits to the disk while the writer goes on, one sync for all that
// gathered meanwhile, and runs what waits for them, in order. Thread-safe.
class SyncThread {
 public:
  // Both run on the new thread. After a failed `sync` `on_failed` runs once and
  // nothing is synced or run again.
  SyncThread(absl::AnyInvocable<absl::Status()> sync,
             absl::AnyInvocable<void(const absl::Status&)> on_failed);
  // Ends after the present sync; waiting tasks are destroyed.
  ~SyncThread();
  SyncThread(const SyncThread&) = delete;
  SyncThread& operator=(const SyncThread&) = delete;

  // Asks for a sync of everything committed so far and returns its ticket.
  uint64_t Request() ABSL_LOCKS_EXCLUDED(mu_);

  // Runs `tasks`, of which there are some, in order once the sync of `ticket`
  // is done. Tickets are passed in their order.
  void RunAfter(uint64_t ticket, std::vector<Task> tasks)
      ABSL_LOCKS_EXCLUDED(mu_);

  // Runs `chore` on the thread when no sync is asked for.
  void PostChore(Task chore) ABSL_LOCKS_EXCLUDED(mu_);

  // Blocks until every sync asked for is done and every task and chore has run,
  // or a sync has failed.
  void Drain() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  // What to do next: run tasks, or sync. Neither: end.
  struct Work {
    std::vector<Task> tasks;
    uint64_t sync_up_to = 0;
  };

  Work Take() ABSL_LOCKS_EXCLUDED(mu_);
  void Loop();

  absl::AnyInvocable<absl::Status()> sync_;
  absl::AnyInvocable<void(const absl::Status&)> on_failed_;
  Mutex mu_;
  CondVar wake_;
  CondVar quiet_;
  uint64_t requested_ ABSL_GUARDED_BY(mu_) = 0;
  uint64_t synced_ ABSL_GUARDED_BY(mu_) = 0;
  std::deque<std::pair<uint64_t, std::vector<Task>>> tasks_
      ABSL_GUARDED_BY(mu_);
  std::deque<Task> chores_ ABSL_GUARDED_BY(mu_);
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool failed_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_SYNC_THREAD_H_
