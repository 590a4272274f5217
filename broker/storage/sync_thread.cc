#include "broker/storage/sync_thread.h"

namespace intercom {

SyncThread::SyncThread(absl::AnyInvocable<absl::Status()> sync,
                       absl::AnyInvocable<void(const absl::Status&)> on_failed)
    : sync_(std::move(sync)), on_failed_(std::move(on_failed)) {
  thread_ = std::thread([this] { Loop(); });
}

SyncThread::~SyncThread() {
  {
    MutexLock lock(mu_);
    ending_ = true;
    wake_.NotifyAll();
  }
  thread_.join();
}

uint64_t SyncThread::Request() {
  MutexLock lock(mu_);
  wake_.NotifyOne();
  return ++requested_;
}

void SyncThread::RunAfter(uint64_t ticket, std::vector<Task> tasks) {
  MutexLock lock(mu_);
  tasks_.emplace_back(ticket, std::move(tasks));
  wake_.NotifyOne();
}

void SyncThread::PostChore(Task chore) {
  MutexLock lock(mu_);
  chores_.push_back(std::move(chore));
  wake_.NotifyOne();
}

void SyncThread::Drain() {
  MutexLock lock(mu_);
  while (!failed_ && (busy_ || requested_ > synced_ || !tasks_.empty() ||
                      !chores_.empty())) {
    quiet_.Wait(mu_);
  }
}

SyncThread::Work SyncThread::Take() {
  MutexLock lock(mu_);
  busy_ = false;
  while (true) {
    Work work;
    if (ending_) return work;
    if (!failed_) {
      if (!tasks_.empty() && tasks_.front().first <= synced_) {
        work.tasks = std::move(tasks_.front().second);
        tasks_.pop_front();
      } else if (requested_ > synced_) {
        work.sync_up_to = requested_;
      } else if (!chores_.empty()) {
        work.tasks.push_back(std::move(chores_.front()));
        chores_.pop_front();
      }
    }
    if (!work.tasks.empty() || work.sync_up_to > 0) {
      busy_ = true;
      return work;
    }
    quiet_.NotifyAll();
    wake_.Wait(mu_);
  }
}

void SyncThread::Loop() {
  while (true) {
    Work work = Take();
    if (work.tasks.empty() && work.sync_up_to == 0) return;
    for (Task& task : work.tasks) task();
    if (work.sync_up_to == 0) continue;
    const absl::Status status = sync_();
    {
      MutexLock lock(mu_);
      if (status.ok()) {
        synced_ = work.sync_up_to;
      } else {
        failed_ = true;
      }
    }
    if (!status.ok()) on_failed_(status);
  }
}

}  // namespace intercom
