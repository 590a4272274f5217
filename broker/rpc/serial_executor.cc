#include "broker/rpc/serial_executor.h"

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
  {
    MutexLock lock(mu_);
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
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
