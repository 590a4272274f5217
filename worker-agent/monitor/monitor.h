#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_MONITOR_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_MONITOR_H_

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/base/task_runner.h"
#include "worker-agent/monitor/inspection_streams.h"
#include "worker-agent/monitor/model.h"
#include "worker-agent/monitor/screen_text.h"

namespace intercom {

// The monitor without its terminal: what the broker says and what a person
// presses become screens, drawn when something on them is different. Nothing is
// done while nothing happens, but for one wake-up when the first age on the
// screen reads differently.
//
// Not thread-safe: everything is on the runner.
class Monitor {
 public:
  struct Options {
    // The state directory of the broker.
    std::string home;
    MonitorModel::Scope scope;
    // Of the pane in which this runs; may be empty.
    std::string claim_id;
    ScreenAbout about;
  };
  struct Outlets {
    std::function<void(const ScreenText&)> draw;
    // The person has quit.
    std::function<void()> over;
  };

  // References must outlive this object.
  Monitor(Options options, TaskRunner& runner, const Clock& clock,
          Random& random, Outlets outlets);
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  // The terminal has this size. The first call begins.
  void Resize(ScreenSize size);
  void Press(MonitorKey key);

 private:
  void Watch();
  void OnLost(const absl::Status& status);
  // Asks for what the model wants and does not have.
  void Ask();
  void AskForSession();
  void AskForMessage();
  // Draws soon; `at_once` for what a person waits for.
  void Changed(bool at_once = false);
  void DrawSoon(absl::Duration delay);
  void OnWake(absl::Duration at);
  void Draw();

  const Options options_;
  TaskRunner& runner_;
  const Clock& clock_;
  const Outlets outlets_;
  MonitorModel model_;
  std::optional<InspectionStreams> streams_;
  Random& random_;
  ScreenSize size_;
  ScreenText screen_;
  bool is_drawn_ = false;
  // Steady time of the last one.
  absl::Duration drawn_at_;
  // Steady time of the next draw; infinite without one.
  absl::Duration draw_at_ = absl::InfiniteDuration();
  // Steady times for which a look at `draw_at_` is posted.
  std::set<absl::Duration> wakes_;
  // What was last asked for, and whether its answer is outstanding.
  std::string session_asked_;
  bool session_is_asked_ = false;
  bool session_is_stale_ = false;
  bool session_is_due_ = false;
  absl::Duration session_asked_at_ = -absl::InfiniteDuration();
  std::string message_asked_;
  // Cancels what is posted when this object goes.
  const std::shared_ptr<PostGate> gate_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_MONITOR_H_
