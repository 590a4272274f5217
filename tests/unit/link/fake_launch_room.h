#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_LAUNCH_ROOM_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_LAUNCH_ROOM_H_

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "broker/base/mutex.h"
#include "worker-agent/launch_room.h"

namespace intercom {

// A room `launch` in which nothing happens but what the test says. Thread-safe.
class FakeLaunchRoom {
 public:
  // What its functions answer. Set before they are called.
  struct Answers {
    Launch launch;
    absl::StatusOr<std::string> saved_session = "/sessions/saved.jsonl";
    absl::StatusOr<v1::Pane> own_pane = v1::Pane();
    absl::Status inspection;
    absl::StatusOr<bool> pane_gone = true;
    absl::Status naming;
    absl::StatusOr<MonitorStep> monitor_step = MonitorStep();
    absl::StatusOr<bool> monitor_there = true;
  };

  LaunchRoom Make() {
    LaunchRoom room;
    room.around.environment = {{"PATH", "/bin"}, {"TERM", "xterm"}};
    room.around.home = "/state";
    room.start = [this](const LaunchPlan& plan) {
      MutexLock lock(mu_);
      plans_.push_back(plan);
      Note("start " + plan.directory);
      return answers_.launch;
    };
    room.find_saved_session =
        [this](const std::string& session_id, const std::string& directory,
               const std::string& agent_dir, const Environment&) {
          MutexLock lock(mu_);
          Note("find " + session_id + " in " + directory + " of " + agent_dir);
          return answers_.saved_session;
        };
    room.own_pane = [this] {
      MutexLock lock(mu_);
      Note("own pane");
      return answers_.own_pane;
    };
    room.inspect_host = [this](const v1::HostIdentity& identity) {
      MutexLock lock(mu_);
      Note("inspect " + identity.session_id());
      return answers_.inspection;
    };
    room.close_pane = [this](const v1::HostIdentity& identity) {
      MutexLock lock(mu_);
      Note("close " + identity.pane().pane());
      return answers_.pane_gone;
    };
    room.name_own_tab = [this](const std::string& name) {
      MutexLock lock(mu_);
      Note("name " + name);
      return answers_.naming;
    };
    room.do_monitor_step = [this](const v1::MonitorPane& claim) {
      MutexLock lock(mu_);
      Note("monitor step of " + claim.claim_id());
      return answers_.monitor_step;
    };
    room.is_monitor_there = [this](const v1::Pane& pane) {
      MutexLock lock(mu_);
      Note("look for monitor " + pane.pane());
      return answers_.monitor_there;
    };
    return room;
  }

  void Set(Answers answers) ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    answers_ = std::move(answers);
  }

  // Functions wait, once called, until Unblock().
  void Block() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    blocked_ = true;
  }
  void Unblock() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    blocked_ = false;
    changed_.NotifyAll();
  }

  // Waits, at most 30 s, until that many calls have come.
  bool AwaitCalls(size_t count) ABSL_LOCKS_EXCLUDED(mu_) {
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(30);
    MutexLock lock(mu_);
    while (calls_.size() < count) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return false;
      changed_.WaitFor(mu_, left);
    }
    return true;
  }
  std::vector<std::string> calls() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    return calls_;
  }
  std::vector<LaunchPlan> plans() ABSL_LOCKS_EXCLUDED(mu_) {
    MutexLock lock(mu_);
    return plans_;
  }

 private:
  void Note(std::string call) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_) {
    calls_.push_back(std::move(call));
    changed_.NotifyAll();
    while (blocked_) changed_.WaitFor(mu_, std::chrono::seconds(30));
  }

  Mutex mu_;
  CondVar changed_;
  Answers answers_ ABSL_GUARDED_BY(mu_);
  bool blocked_ ABSL_GUARDED_BY(mu_) = false;
  std::vector<std::string> calls_ ABSL_GUARDED_BY(mu_);
  std::vector<LaunchPlan> plans_ ABSL_GUARDED_BY(mu_);
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_LAUNCH_ROOM_H_
