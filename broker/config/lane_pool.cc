#include "broker/config/lane_pool.h"

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "broker/base/error.h"

namespace intercom {
namespace {

absl::Status Full(absl::string_view what) {
  return Error(absl::StatusCode::kResourceExhausted, "LANES_FULL",
               std::string(what));
}

absl::Status ShuttingDown() {
  return Error(absl::StatusCode::kUnavailable, "SHUTTING_DOWN",
               "the broker is shutting down");
}

}  // namespace

LanePool::LanePool(TaskRunner& runner, const Clock& clock, LaneOptions options)
    : runner_(runner), clock_(clock), options_(options) {}

std::optional<LanePool::CallId> LanePool::Begin(std::string timeout_message,
                                                Fail fail) {
  bool start_ticking = false;
  CallId call = 0;
  {
    MutexLock lock(mu_);
    if (!stopped_ && calls_.size() < options_.max_calls) {
      call = ++last_call_;
      calls_.emplace(call, Call{.deadline = clock_.Steady() + options_.deadline,
                                .timeout_message = std::move(timeout_message),
                                .fail = std::move(fail)});
      start_ticking = !std::exchange(ticking_, true);
    }
  }
  if (call == 0) {
    runner_.PostTask(
        [fail = std::move(fail), limit = options_.max_calls]() mutable {
          fail(Full(absl::StrCat("more than ", limit, " config calls wait")));
        });
    return std::nullopt;
  }
  if (start_ticking) PostTick(options_.deadline);
  return call;
}

bool LanePool::IsPending(CallId call) const {
  MutexLock lock(mu_);
  return calls_.count(call) > 0;
}

void LanePool::Answer(CallId call, Task answer) {
  std::map<CallId, Call>::node_type answered;
  {
    MutexLock lock(mu_);
    answered = calls_.extract(call);
    if (answered.empty()) return;
    ++called_out_;
  }
  runner_.PostTask(std::move(answer));
  MutexLock lock(mu_);
  --called_out_;
  came_back_.NotifyAll();
}

absl::Status LanePool::Enqueue(const std::string& key, Job job) {
  MutexLock lock(mu_);
  if (stopped_) return ShuttingDown();
  auto found = lanes_.find(key);
  if (found == lanes_.end()) {
    if (lanes_.size() >= options_.max_lanes) RetireIdle(absl::ZeroDuration());
    if (lanes_.size() >= options_.max_lanes) {
      return Full(absl::StrCat("more than ", options_.max_lanes,
                               " directories are being read"));
    }
    auto lane = std::make_shared<Lane>();
    try {
      std::thread([self = shared_from_this(), lane] {
        self->Run(lane);
      }).detach();
    } catch (const std::system_error& error) {
      return Full(
          absl::StrCat("no thread for reading a directory: ", error.what()));
    }
    found = lanes_.emplace(key, std::move(lane)).first;
  }
  Lane& lane = *found->second;
  if (lane.jobs.size() >= options_.max_jobs) {
    return Full(absl::StrCat("more than ", options_.max_jobs,
                             " config calls wait for one directory"));
  }
  lane.jobs.push_back(std::move(job));
  lane.wake.NotifyOne();
  return absl::OkStatus();
}

absl::Time LanePool::Now() const {
  MutexLock lock(mu_);
  return stopped_ ? absl::InfinitePast() : clock_.Now();
}

bool LanePool::Pause(absl::Duration duration) {
  auto over = std::make_shared<bool>(false);
  const bool started = CallOut([&] {
    runner_.PostDelayedTask(
        [self = shared_from_this(), over] {
          MutexLock lock(self->mu_);
          *over = true;
          self->pause_over_.NotifyAll();
        },
        duration);
  });
  if (!started) return false;
  MutexLock lock(mu_);
  while (!stopped_ && !*over) pause_over_.Wait(mu_);
  return !stopped_;
}

bool LanePool::CallOut(const std::function<void()>& function) {
  {
    MutexLock lock(mu_);
    if (stopped_) return false;
    ++called_out_;
  }
  function();
  MutexLock lock(mu_);
  --called_out_;
  came_back_.NotifyAll();
  return true;
}

void LanePool::Stop() {
  std::map<CallId, Call> calls;
  std::vector<std::deque<Job>> jobs;
  {
    MutexLock lock(mu_);
    stopped_ = true;
    calls.swap(calls_);
    for (auto& [key, lane] : lanes_) {
      jobs.push_back(std::exchange(lane->jobs, {}));
      lane->wake.NotifyAll();
    }
    lanes_.clear();
    pause_over_.NotifyAll();
    while (called_out_ > 0) came_back_.Wait(mu_);
  }
  for (auto& [id, call] : calls) {
    runner_.PostTask(
        [fail = std::move(call.fail)]() mutable { fail(ShuttingDown()); });
  }
}

void LanePool::Run(const std::shared_ptr<Lane>& lane) {
  for (;;) {
    Job job;
    {
      MutexLock lock(mu_);
      if (std::exchange(lane->busy, false) && !stopped_) {
        lane->idle_since = clock_.Steady();
      }
      while (!stopped_ && !lane->retired && lane->jobs.empty()) {
        lane->wake.Wait(mu_);
      }
      if (stopped_ || lane->jobs.empty()) return;
      job = std::move(lane->jobs.front());
      lane->jobs.pop_front();
      lane->busy = true;
    }
    job(lane->cache);
  }
}

void LanePool::Tick() {
  std::vector<Call> expired;
  absl::Duration next = options_.deadline;
  bool again = false;
  {
    MutexLock lock(mu_);
    if (stopped_) return;
    const absl::Duration now = clock_.Steady();
    while (!calls_.empty() && calls_.begin()->second.deadline <= now) {
      expired.push_back(std::move(calls_.begin()->second));
      calls_.erase(calls_.begin());
    }
    RetireIdle(options_.idle);
    if (!calls_.empty()) {
      next = std::min(next, calls_.begin()->second.deadline - now);
    }
    again = ticking_ = !calls_.empty() || !lanes_.empty();
  }
  if (again) PostTick(next);
  for (Call& call : expired) {
    call.fail(Error(absl::StatusCode::kDeadlineExceeded, "CONFIG_TIMEOUT",
                    call.timeout_message));
  }
}

void LanePool::PostTick(absl::Duration delay) {
  runner_.PostDelayedTask(
      [weak = weak_from_this()] {
        if (const auto self = weak.lock()) self->Tick();
      },
      delay);
}

void LanePool::RetireIdle(absl::Duration age) {
  const absl::Duration now = clock_.Steady();
  for (auto it = lanes_.begin(); it != lanes_.end();) {
    Lane& lane = *it->second;
    if (!lane.busy && lane.jobs.empty() && now - lane.idle_since >= age) {
      lane.retired = true;
      lane.wake.NotifyAll();
      it = lanes_.erase(it);
    } else {
      ++it;
    }
  }
}

}  // namespace intercom
