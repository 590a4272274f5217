#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_POLL_LOOP_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_POLL_LOOP_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/base/mutex.h"
#include "broker/base/task_runner.h"

namespace intercom {

// A task runner on the thread that calls Run(), which sleeps until there is a
// task, a delayed one is due, or a descriptor can be read.
class PollLoop : public TaskRunner {
 public:
  // `clock` must outlive this object and run: waits are real. UNAVAILABLE
  // without a descriptor.
  static absl::StatusOr<std::unique_ptr<PollLoop>> Create(const Clock& clock);
  ~PollLoop() override;
  PollLoop(const PollLoop&) = delete;
  PollLoop& operator=(const PollLoop&) = delete;

  void PostTask(Task task) override ABSL_LOCKS_EXCLUDED(mu_);
  void PostDelayedTask(Task task, absl::Duration delay) override
      ABSL_LOCKS_EXCLUDED(mu_);

  // Calls `readable` whenever `fd` has something to read or is at its end.
  // Before Run().
  void Watch(int fd, std::function<void()> readable);

  // Runs tasks until Quit(). What still waits then is not run.
  void Run() ABSL_LOCKS_EXCLUDED(mu_);
  // Lets Run() return after the present task. From any thread.
  void Quit() ABSL_LOCKS_EXCLUDED(mu_);

 private:
  PollLoop(const Clock& clock, int wake_fd);

  // Runs what is due. How long there is nothing to do; zero to quit.
  absl::Duration RunDue() ABSL_LOCKS_EXCLUDED(mu_);
  bool HasQuit() ABSL_LOCKS_EXCLUDED(mu_);
  void Wake();

  const Clock& clock_;
  const int wake_fd_;
  std::vector<std::pair<int, std::function<void()>>> watched_;

  Mutex mu_;
  bool quit_ ABSL_GUARDED_BY(mu_) = false;
  std::deque<Task> ready_ ABSL_GUARDED_BY(mu_);
  int64_t next_ ABSL_GUARDED_BY(mu_) = 0;
  // By due time (steady), then by order of posting.
  std::map<std::pair<absl::Duration, int64_t>, Task> delayed_
      ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_POLL_LOOP_H_
