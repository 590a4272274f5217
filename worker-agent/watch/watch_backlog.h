#ifndef PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_BACKLOG_H_
#define PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_BACKLOG_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "broker/base/task_runner.h"
#include "worker-agent/link/post_gate.h"
#include "worker-agent/watch/watch_text.h"

namespace intercom {

// What is to be said to the session next.
struct WatchBulletin {
  // Of the events in it.
  std::vector<std::string> ids;
  std::string content;
  std::string summary;
};

// Events that wait until the session has them: said as bulletins of 4 at most,
// the next one at least a second after the last was shown; 64 wait, and lines
// that do not fit are counted. Not thread-safe: on `runner`.
class WatchBacklog {
 public:
  // Takes what is to be said now instead of what was said before and is not
  // shown yet; nullopt: nothing.
  using Say = std::function<void(const std::optional<WatchBulletin>&)>;

  // What is passed must outlive this object.
  WatchBacklog(TaskRunner& runner, const Clock& clock, Say say);
  ~WatchBacklog() { gate_->Close(); }
  WatchBacklog(const WatchBacklog&) = delete;
  WatchBacklog& operator=(const WatchBacklog&) = delete;

  void Add(WaitingEvent event);
  // Takes back what a watch has told and the session has not got. How many.
  int Remove(const std::string& watch);

  // The session has these events: those of a bulletin, or some of them.
  void Told(const std::vector<std::string>& ids);

 private:
  struct Said {
    std::vector<std::string> ids;
    int omitted = 0;
  };
  // Says what is to be said now, if that is something else than before.
  void Update();

  const Clock& clock_;
  const Say say_;
  const std::shared_ptr<PostGate> gate_;
  std::deque<WaitingEvent> waiting_;
  // Lines that did not fit, and that no bulletin has told.
  int omitted_ = 0;
  // Bulletins that may be shown still: the last few, the latest at the end.
  std::deque<Said> said_;
  // Whether the latest stands.
  bool is_said_ = false;
  // Not before that is another one said.
  absl::Duration not_before_;
  bool update_is_posted_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_WATCH_WATCH_BACKLOG_H_
