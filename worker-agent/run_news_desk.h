#ifndef PI_INTERCOM_WORKER_AGENT_RUN_NEWS_DESK_H_
#define PI_INTERCOM_WORKER_AGENT_RUN_NEWS_DESK_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "broker/base/clock.h"
#include "broker/base/task_runner.h"
#include "intercom/v1/session.pb.h"
#include "worker-agent/bulletins.h"
#include "worker-agent/link/post_gate.h"

namespace intercom {

// Tells a supervisor's session of its runs: what the broker's news say, as
// bulletins of the topic "runs", and now and then how the open ones go. Tells
// the broker, once each, what stands in the session or was collected. Not
// thread-safe: on the runner of the link.
class RunNewsDesk {
 public:
  static constexpr char kTopic[] = "runs";

  struct Setting {
    TaskRunner& runner;
    const Clock& clock;
    absl::Duration check_in = absl::Minutes(5);
    // Drops frames while nothing is attached.
    std::function<void(v1::AttachRequest)> send;
    // Asks the broker for the runs that are open; answers at once without one.
    std::function<void(
        std::function<void(const absl::StatusOr<v1::ListRunsResponse>&)>)>
        list_runs;
  };

  // What is passed must outlive this object.
  RunNewsDesk(Bulletins& bulletins, Setting setting);
  ~RunNewsDesk();
  RunNewsDesk(const RunNewsDesk&) = delete;
  RunNewsDesk& operator=(const RunNewsDesk&) = delete;

  // A new stream: what was told on the old one may be lost.
  void StreamStarted() { ++stream_; }

  void Handle(const v1::RunNews& news);

  // These results stand in the session as those of calls.
  void Collected(const std::vector<std::string>& run_ids);

 private:
  // More than a RunNews can name.
  static constexpr size_t kMostTold = 512;

  enum class How { kAnnounced, kCollected, kStalled };
  struct Told {
    // A run's, or that of one stall.
    std::string id;
    How how;
    int64_t stream;
  };

  Told* FindTold(const std::string& id);
  // Tells the broker, unless that was done on this stream.
  void Tell(const std::string& id, How how);
  void HandleShown(const std::vector<std::string>& ids);
  // Repeats what a broken stream has lost.
  void TellAgain();
  // Says what there is to say now.
  void Refresh();

  void CheckInLater(absl::Duration delay);
  void CheckIn();

  Bulletins& bulletins_;
  const Setting setting_;
  const std::shared_ptr<PostGate> gate_;
  v1::RunNews news_;
  int64_t stream_ = 0;
  // The latest, oldest first.
  std::deque<Told> told_;
  // Whether what is said are news, and no check-in.
  bool has_news_ = false;
  // Rises with each news.
  int64_t version_ = 0;
  // When something was said last, or the first run opened.
  absl::Duration said_at_;
  bool timer_runs_ = false;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_RUN_NEWS_DESK_H_
