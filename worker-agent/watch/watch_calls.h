#ifndef PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_CALLS_H_

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/base/task_runner.h"
#include "worker-agent/launch/launch.h"
#include "worker-agent/link/post_gate.h"
#include "worker-agent/tools/tool_result.h"
#include "worker-agent/watch/watch_backlog.h"
#include "worker-agent/watch/watch_order.h"
#include "worker-agent/watch/watch_process.h"

namespace intercom {

// The calls of the tool intercom_watch, and the programs that it watches. All
// of them end with this object. Not thread-safe: on `runner`.
class WatchCalls {
 public:
  using Answer =
      std::function<void(const std::string& call_id, const ToolResult&)>;

  // `around`: what the programs inherit, and the agent's own program. `answer`
  // is called once for each call that was not cancelled. What is passed must
  // outlive this object.
  WatchCalls(TaskRunner& runner, const Clock& clock, Random& random,
             const Surroundings& around, WatchBacklog::Say say, Answer answer);
  ~WatchCalls();
  WatchCalls(const WatchCalls&) = delete;
  WatchCalls& operator=(const WatchCalls&) = delete;

  // Where programs run: the session's directory.
  void SetDirectory(std::string directory) {
    directory_ = std::move(directory);
  }
  // Whether the session may run programs. The loss of that ends all watches and
  // says so to the session.
  void SetAllowed(bool allowed);

  // `arguments` keep the tool's schema.
  void Call(const Json& arguments, const std::string& call_id);
  // What a cancelled call is answered with; nullopt if it is none of these. A
  // program that was about to start is ended.
  std::optional<ToolResult> Cancel(const std::string& call_id);

  // See WatchBacklog.
  void Told(const std::vector<std::string>& ids) { backlog_.Told(ids); }

 private:
  struct Watch {
    WatchOrder order;
    // The call that arms it, until that is answered.
    std::string call_id;
    absl::Duration started_at;
    int events = 0;
    int lines = 0;
    // Nothing more is to come of it but that it is gone.
    bool over = false;
    std::unique_ptr<WatchProcess> process;
  };

  void Arm(const Json& arguments, const std::string& call_id);
  ToolResult List() const;
  ToolResult CancelWatch(const std::string& id);
  absl::StatusOr<GuardedCommand> CommandOf(const WatchOrder& order);

  void HandleStarted(const std::string& id, const absl::Status& status);
  void HandleEvent(const std::string& id, WatchEvent event);
  // Ends what is left of a watch of which nothing more is to come.
  void EndWatch(Watch& watch);

  const Clock& clock_;
  Random& random_;
  const Surroundings& around_;
  const Answer answer_;
  const std::shared_ptr<PostGate> gate_;
  std::string directory_;
  bool allowed_ = false;
  WatchBacklog backlog_;
  // By id, until they are gone.
  std::map<std::string, Watch> watches_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_CALLS_H_
