#include "broker/rpc/serial_executor.h"

#include <limits>
#include <utility>

namespace intercom {

SerialExecutor::SerialExecutor() : thread_([this] { Run(); }) {}

SerialExecutor::~SerialExecutor() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void SerialExecutor::Post(Task task) {
  TryPost(std::move(task), std::numeric_limits<size_t>::max());
}

bool SerialExecutor::TryPost(Task task, size_t limit) {
  {
    MutexLock lock(mu_);
    if (tasks_.size() >= limit) return false;
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
  return true;
}

void SerialExecutor::Run() {
  while (true) {
    std::deque<Task> batch;
    {
      MutexLock lock(mu_);
      while (tasks_.empty() && !stopping_) wake_.Wait(mu_);
      if (tasks_.empty()) return;
      batch.swap(tasks_);
    }
    for (Task& task : batch) task();
  }
}

}  // namespace intercom
