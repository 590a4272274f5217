#include "broker/rpc/writer_executor.h"

#include <utility>

namespace intercom {

WriterExecutor::WriterExecutor() : thread_([this] { Run(); }) {}

WriterExecutor::~WriterExecutor() {
  {
    MutexLock lock(mu_);
    stopping_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
}

void WriterExecutor::Post(Task task) {
  {
    MutexLock lock(mu_);
    tasks_.push_back(std::move(task));
  }
  wake_.NotifyOne();
}

void WriterExecutor::Run() {
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
