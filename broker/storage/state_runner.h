#ifndef PI_INTERCOM_BROKER_STORAGE_STATE_RUNNER_H_
#define PI_INTERCOM_BROKER_STORAGE_STATE_RUNNER_H_

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "broker/base/clock.h"
#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"
#include "broker/storage/checkpointer.h"
#include "broker/storage/database.h"
#include "broker/storage/sync_thread.h"

namespace intercom {

// What a command wants done once its changes are kept. Dropped when they are
// not.
class Effects {
 public:
  // Runs on the runner's thread after COMMIT: memory, answers of reads, sends.
  void AfterCommit(Task task) { after_commit_.push_back(std::move(task)); }
  // Runs on the sync thread once the changes survive a loss of power, and after
  // every AfterCommit effect of the batch: answers that promise durability.
  // Must be thread-safe, quick, and only enqueue.
  void AfterSync(Task task) { after_sync_.push_back(std::move(task)); }

 private:
  friend class StateRunner;
  std::vector<Task> after_commit_;
  std::vector<Task> after_sync_;
};

// A change of the stored state. `run` uses the stores, appends effects, and
// changes no memory that tells of the state; it may read memory, which shows
// none of the effects of the commands before it in the same batch. An error
// undoes what it stored, drops its effects and is given to `failed`, which may
// be null and runs on the runner's thread in the place of the effects, after
// COMMIT.
struct Command {
  absl::AnyInvocable<absl::Status(Effects&)> run;
  absl::AnyInvocable<void(const absl::Status&)> failed;
};

// The one thread that owns the state: SQLite's writer and everything in memory
// that goes with it.
//
// It takes what waits, at most 256 items, as a batch. The batch's commands run
// in order, each in a savepoint of one transaction; plain tasks of the batch
// wait. After COMMIT the effects, failures and plain tasks run in the order of
// posting; what they post goes to a later batch. Then the next batch runs
// while the disk syncs this one. If COMMIT fails, or SQLite gave the
// transaction up on the way, all of it is rolled back, every command fails with
// that status, plain tasks run in their places, and `on_commit_failed` runs
// last.
//
// Posting is thread-safe and never blocks. The queue has no limit of its own:
// who takes input from outside looks at waiting() and refuses.
class StateRunner : public TaskRunner {
 public:
  struct Options {
    // Runs on the runner's thread after a failed COMMIT: reload memory from the
    // database. Null: nothing.
    absl::AnyInvocable<void(const absl::Status&)> on_commit_failed;
    // Runs on the sync thread after a failed sync: end the process, nothing
    // acknowledged can be promised. AfterSync effects never run again. Null:
    // writes to the log and aborts.
    absl::AnyInvocable<void(const absl::Status&)> on_sync_failed;
    // Makes the log durable. Null: WalSync on the database's file. Never called
    // for a database in memory.
    absl::AnyInvocable<absl::Status()> sync;
  };

  // Starts the threads. `clock` must outlive the runner. Fails when the -wal
  // file can't be opened. With a database in memory AfterSync effects run on
  // the runner's thread right after the batch's AfterCommit effects.
  static absl::StatusOr<std::unique_ptr<StateRunner>> Create(
      std::unique_ptr<Database> db, const Clock& clock, Options options);

  // Ends the threads after the present batch; what still waits is destroyed.
  ~StateRunner() override;

  void PostCommand(Command command);
  void PostTask(Task task) override;
  void PostDelayedTask(Task task, absl::Duration delay) override;

  // Items posted and not yet taken into a batch, without delayed ones.
  int64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }

  // `step` does a small piece of upkeep in a transaction of its own, on the
  // runner's thread, when nothing waited for 0.5 s, once a minute; true: there
  // is more to do, which it is asked for while nothing waits. Under steady work
  // it comes a minute late, and is asked for more once a second. Set it before
  // the first post or from the runner's thread.
  using IdleStep = absl::AnyInvocable<absl::StatusOr<bool>()>;
  void SetIdleStep(IdleStep step) {
    idle_step_ = std::move(step);
    next_idle_step_ = clock_.Steady();
  }

  // Blocks until everything posted so far, and what that posted in turn, has
  // run and been synced; delayed tasks only if due. Not from a task.
  void Drain();

  // Drains, then ends the threads; a second call does nothing. Whatever is
  // posted afterwards is destroyed without running or failing.
  void Stop();

  // Looks at the clock again: after a test has moved it.
  void WakeTimers();

  // The writer. Used by commands, and by tasks for reading only.
  Database& database() { return *db_; }

 private:
  using Item = std::variant<Command, Task>;
  using Batch = std::vector<Item>;
  // What a command of a batch came to; unused for a task.
  struct Outcome {
    absl::Status status;
    Effects effects;
  };

  StateRunner(std::unique_ptr<Database> db, const Clock& clock,
              Options options);

  void Post(Item item) ABSL_LOCKS_EXCLUDED(mu_);
  void EndThreads() ABSL_LOCKS_EXCLUDED(mu_);

  // On the runner's thread. Take blocks until there is work; an empty batch is
  // a moment of idleness. False when the thread must end.
  void Loop();
  bool Take(Batch& batch) ABSL_LOCKS_EXCLUDED(mu_);
  bool TimerIsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void TakeDueTimers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void RunBatch(Batch& batch);
  absl::Status RunCommands(Batch& batch, std::vector<Outcome>& outcomes);
  void RunEffects(Item& item, Outcome& outcome);
  void RunIdle();
  // Whether there is more to do.
  bool RunUpkeep();
  absl::StatusOr<bool> RunIdleStep();
  void CheckpointIfDue(int64_t frames_limit);

  const std::unique_ptr<Database> db_;
  const Clock& clock_;
  // Null for a database in memory.
  std::unique_ptr<Checkpointer> checkpointer_;
  std::unique_ptr<SyncThread> sync_;
  std::atomic<int64_t> waiting_ = 0;

  // Of the runner's thread.
  absl::AnyInvocable<void(const absl::Status&)> on_commit_failed_;
  IdleStep idle_step_;
  absl::Duration idle_at_ = absl::InfiniteDuration();
  absl::Duration next_idle_step_ = absl::ZeroDuration();

  Mutex mu_;
  CondVar wake_;
  CondVar quiet_;
  std::deque<Item> queue_ ABSL_GUARDED_BY(mu_);
  // By due time, then by order of posting.
  std::map<std::pair<absl::Duration, uint64_t>, Task> timers_
      ABSL_GUARDED_BY(mu_);
  uint64_t next_timer_ ABSL_GUARDED_BY(mu_) = 0;
  bool busy_ ABSL_GUARDED_BY(mu_) = false;
  bool ending_ ABSL_GUARDED_BY(mu_) = false;
  bool ended_ ABSL_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_STORAGE_STATE_RUNNER_H_
