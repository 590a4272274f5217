#include "broker/storage/state_runner.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "broker/base/error.h"
#include "broker/base/log.h"
#include "broker/base/status_macros.h"
#include "broker/storage/transaction.h"
#include "broker/storage/wal_sync.h"

namespace intercom {
namespace {

constexpr size_t kMaxBatch = 256;
constexpr absl::Duration kIdleAfter = absl::Milliseconds(500);
constexpr absl::Duration kIdleStepPause = absl::Minutes(1);
// Between steps of upkeep that is overdue under steady work.
constexpr absl::Duration kBusyStepPause = absl::Seconds(1);
// Bounds a wait, so that its conversion can't overflow.
constexpr absl::Duration kLongestWait = absl::Hours(1);
// Frames of 4 KiB that a checkpoint would have to copy: 4 MiB when idle, 64 MiB
// in the middle of work.
constexpr int64_t kIdleFrames = 1024;
constexpr int64_t kBusyFrames = 16 * 1024;

[[noreturn]] void DieOfFailedSync(const absl::Status& status) {
  SPDLOG_CRITICAL(
      "the disk failed to keep the log ({}); ending, because what was accepted "
      "can't be promised any more",
      MessageOf(status));
  std::abort();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateRunner>> StateRunner::Create(
    std::unique_ptr<Database> db, const Clock& clock, Options options) {
  if (!db->in_memory() && !options.sync) {
    INTERCOM_ASSIGN_OR_RETURN(WalSync wal, WalSync::Open(db->path()));
    options.sync = [wal = std::move(wal)] { return wal.Sync(); };
  }
  if (!options.on_sync_failed) options.on_sync_failed = DieOfFailedSync;
  return std::unique_ptr<StateRunner>(
      new StateRunner(std::move(db), clock, std::move(options)));
}

StateRunner::StateRunner(std::unique_ptr<Database> db, const Clock& clock,
                         Options options)
    : db_(std::move(db)),
      clock_(clock),
      on_commit_failed_(std::move(options.on_commit_failed)) {
  if (!db_->in_memory()) {
    checkpointer_ = std::make_unique<Checkpointer>(db_->path());
    sync_ = std::make_unique<SyncThread>(std::move(options.sync),
                                         std::move(options.on_sync_failed));
  }
  thread_ = std::thread([this] { Loop(); });
}

StateRunner::~StateRunner() { EndThreads(); }

void StateRunner::PostCommand(Command command) { Post(std::move(command)); }

void StateRunner::PostTask(Task task) { Post(std::move(task)); }

void StateRunner::Post(Item item) {
  MutexLock lock(mu_);
  if (ending_) return;
  queue_.push_back(std::move(item));
  waiting_.fetch_add(1, std::memory_order_relaxed);
  wake_.NotifyOne();
}

void StateRunner::PostDelayedTask(Task task, absl::Duration delay) {
  const absl::Duration due =
      clock_.Steady() + std::max(delay, absl::ZeroDuration());
  MutexLock lock(mu_);
  if (ending_) return;
  timers_.emplace(std::make_pair(due, next_timer_++), std::move(task));
  wake_.NotifyOne();
}

void StateRunner::WakeTimers() {
  MutexLock lock(mu_);
  wake_.NotifyOne();
}

void StateRunner::Drain() {
  while (true) {
    {
      MutexLock lock(mu_);
      wake_.NotifyOne();
      while (!ended_ && (busy_ || !queue_.empty() || TimerIsDue())) {
        quiet_.Wait(mu_);
      }
    }
    if (sync_ == nullptr) return;
    sync_->Drain();
    MutexLock lock(mu_);
    if (ended_ || (!busy_ && queue_.empty() && !TimerIsDue())) return;
  }
}

void StateRunner::Stop() {
  if (!thread_.joinable()) return;
  Drain();
  EndThreads();
}

void StateRunner::EndThreads() {
  {
    MutexLock lock(mu_);
    ending_ = true;
    wake_.NotifyOne();
  }
  if (thread_.joinable()) thread_.join();
  sync_.reset();
}

bool StateRunner::TimerIsDue() const {
  return !timers_.empty() && timers_.begin()->first.first <= clock_.Steady();
}

void StateRunner::TakeDueTimers() {
  while (TimerIsDue()) {
    queue_.push_back(std::move(timers_.begin()->second));
    waiting_.fetch_add(1, std::memory_order_relaxed);
    timers_.erase(timers_.begin());
  }
}

bool StateRunner::Take(Batch& batch) {
  MutexLock lock(mu_);
  busy_ = false;
  while (!ending_) {
    TakeDueTimers();
    if (!queue_.empty()) {
      const size_t count = std::min(queue_.size(), kMaxBatch);
      const auto end = queue_.begin() + count;
      std::move(queue_.begin(), end, std::back_inserter(batch));
      queue_.erase(queue_.begin(), end);
      waiting_.fetch_sub(count, std::memory_order_relaxed);
      busy_ = true;
      return true;
    }
    quiet_.NotifyAll();
    const absl::Duration now = clock_.Steady();
    if (now >= idle_at_) {
      busy_ = true;
      return true;
    }
    absl::Duration wait = std::min(kLongestWait, idle_at_ - now);
    if (!timers_.empty()) {
      wait = std::min(wait, timers_.begin()->first.first - now);
    }
    wake_.WaitFor(mu_, absl::ToChronoNanoseconds(wait));
  }
  ended_ = true;
  quiet_.NotifyAll();
  return false;
}

void StateRunner::Loop() {
  Batch batch;
  while (Take(batch)) {
    if (batch.empty()) {
      RunIdle();
      continue;
    }
    RunBatch(batch);
    batch.clear();
    const absl::Duration now = clock_.Steady();
    idle_at_ = now + kIdleAfter;
    // Upkeep waits for idleness, but not without end.
    if (idle_step_ && now >= next_idle_step_ + kIdleStepPause) {
      next_idle_step_ = RunUpkeep() ? now - kIdleStepPause + kBusyStepPause
                                    : now + kIdleStepPause;
    }
  }
}

absl::Status StateRunner::RunCommands(Batch& batch,
                                      std::vector<Outcome>& outcomes) {
  INTERCOM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  for (size_t i = 0; i < batch.size(); ++i) {
    Command* command = std::get_if<Command>(&batch[i]);
    if (command == nullptr) continue;
    Outcome& outcome = outcomes[i];
    INTERCOM_ASSIGN_OR_RETURN(Savepoint savepoint, Savepoint::Begin(*db_));
    outcome.status = command->run(outcome.effects);
    if (!db_->in_transaction()) {
      // SQLite rolled everything back, the commands before this one too.
      return outcome.status.ok()
                 ? Error(absl::StatusCode::kInternal, "STORAGE_BUG",
                         "a command hid that its transaction was rolled back")
                 : outcome.status;
    }
    if (outcome.status.ok()) INTERCOM_RETURN_IF_ERROR(savepoint.Release());
  }
  return transaction.Commit();
}

void StateRunner::RunBatch(Batch& batch) {
  std::vector<Outcome> outcomes(batch.size());
  absl::Status commit;
  if (std::any_of(batch.begin(), batch.end(), [](const Item& item) {
        return std::holds_alternative<Command>(item);
      })) {
    commit = RunCommands(batch, outcomes);
  }
  std::vector<Task> after_sync;
  for (Outcome& outcome : outcomes) {
    if (!commit.ok()) outcome.status = commit;
    if (!outcome.status.ok()) continue;
    std::move(outcome.effects.after_sync_.begin(),
              outcome.effects.after_sync_.end(),
              std::back_inserter(after_sync));
  }
  // The disk works while the effects run.
  const bool sync = sync_ != nullptr && !after_sync.empty();
  const uint64_t ticket = sync ? sync_->Request() : 0;
  for (size_t i = 0; i < batch.size(); ++i) RunEffects(batch[i], outcomes[i]);
  if (sync) {
    sync_->RunAfter(ticket, std::move(after_sync));
  } else {
    for (Task& task : after_sync) task();
  }
  if (!commit.ok() && on_commit_failed_) on_commit_failed_(commit);
  CheckpointIfDue(kBusyFrames);
}

void StateRunner::RunEffects(Item& item, Outcome& outcome) {
  if (Task* task = std::get_if<Task>(&item); task != nullptr) {
    (*task)();
    return;
  }
  Command& command = std::get<Command>(item);
  if (outcome.status.ok()) {
    for (Task& task : outcome.effects.after_commit_) task();
  } else if (command.failed) {
    command.failed(outcome.status);
  }
}

void StateRunner::RunIdle() {
  CheckpointIfDue(kIdleFrames);
  idle_at_ = absl::InfiniteDuration();
  if (!idle_step_) return;
  const absl::Duration now = clock_.Steady();
  if (now < next_idle_step_) {
    idle_at_ = next_idle_step_;
    return;
  }
  if (RunUpkeep()) {
    idle_at_ = now;
  } else {
    next_idle_step_ = now + kIdleStepPause;
  }
}

bool StateRunner::RunUpkeep() {
  const absl::StatusOr<bool> more = RunIdleStep();
  if (!more.ok()) SPDLOG_WARN("upkeep failed: {}", MessageOf(more.status()));
  return more.ok() && *more;
}

absl::StatusOr<bool> StateRunner::RunIdleStep() {
  INTERCOM_ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(*db_));
  INTERCOM_ASSIGN_OR_RETURN(const bool more, idle_step_());
  INTERCOM_RETURN_IF_ERROR(transaction.Commit());
  return more;
}

void StateRunner::CheckpointIfDue(int64_t frames_limit) {
  if (sync_ == nullptr) return;
  if (!checkpointer_->Claim(db_->wal_frames(), frames_limit)) return;
  sync_->PostChore([this] {
    if (checkpointer_->Run() < kBusyFrames) return;
    // What was committed meanwhile is little. Copying it from the writer lets
    // the log start over, which under steady work nothing else would.
    PostTask([this] { db_->CheckpointPassive().IgnoreError(); });
  });
}

}  // namespace intercom
