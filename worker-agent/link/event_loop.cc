#include "worker-agent/link/event_loop.h"

#include "absl/time/time.h"

namespace intercom {

void EventLoop::PostTask(Task task) {
  MutexLock lock(mu_);
  ready_.push_back(std::move(task));
  changed_.NotifyOne();
}

void EventLoop::PostDelayedTask(Task task, absl::Duration delay) {
  MutexLock lock(mu_);
  delayed_.emplace(std::make_pair(clock_.Steady() + delay, next_++),
                   std::move(task));
  changed_.NotifyOne();
}

void EventLoop::Run() {
  Task task;
  while (Take(task)) {
    task();
    // What the task holds on to must not outlive its turn.
    task = nullptr;
  }
}

void EventLoop::Quit() {
  MutexLock lock(mu_);
  quit_ = true;
  changed_.NotifyOne();
}

bool EventLoop::Take(Task& task) {
  MutexLock lock(mu_);
  while (!quit_) {
    const absl::Duration now = clock_.Steady();
    while (!delayed_.empty() && delayed_.begin()->first.first <= now) {
      ready_.push_back(std::move(delayed_.begin()->second));
      delayed_.erase(delayed_.begin());
    }
    if (!ready_.empty()) {
      task = std::move(ready_.front());
      ready_.pop_front();
      return true;
    }
    if (delayed_.empty()) {
      changed_.Wait(mu_);
    } else {
      changed_.WaitFor(
          mu_, absl::ToChronoNanoseconds(delayed_.begin()->first.first - now));
    }
  }
  return false;
}

}  // namespace intercom
