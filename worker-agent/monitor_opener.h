#ifndef PI_INTERCOM_WORKER_AGENT_MONITOR_OPENER_H_
#define PI_INTERCOM_WORKER_AGENT_MONITOR_OPENER_H_

#include <functional>
#include <optional>
#include <string>

#include "broker/base/random.h"
#include "intercom/v1/monitor.pb.h"
#include "worker-agent/background.h"
#include "worker-agent/launch_room.h"
#include "worker-agent/link/broker_link.h"

namespace intercom {

// Opens the monitor's pane above that of a coordinator, where the broker says
// so. Nothing waits for it, and a failure is told once. Not thread-safe: on the
// runner of the link.
class MonitorOpener {
 public:
  // `warn` tells a person. What is passed must outlive this object; `panes` is
  // where the multiplexer is waited for.
  MonitorOpener(BrokerLink& link, const LaunchRoom& room, Background& panes,
                Random& random,
                std::function<void(const std::string& text)> warn)
      : link_(link),
        room_(room),
        panes_(panes),
        random_(random),
        warn_(std::move(warn)) {}

  // Whether the person wants one at all.
  void SetWanted(bool wanted) { is_over_ = !wanted; }

  // The session coordinates, and may have its first worker by now. Does nothing
  // once there is a pane, or none can be.
  void Look();

 private:
  // `gone`: the claim whose pane was looked for; may be empty.
  void Claim(const std::string& gone);
  void HandleClaim(const v1::ClaimMonitorPaneResponse& response,
                   bool has_looked);
  void Step(v1::MonitorPane claim);
  void Record(v1::MonitorPane claim, const std::string& detail);
  void Finish() {
    is_over_ = true;
    is_busy_ = false;
  }
  // Nothing came of it; the next Look() tries again, or one that came
  // meanwhile.
  void Pause();

  BrokerLink& link_;
  const LaunchRoom& room_;
  Background& panes_;
  Random& random_;
  const std::function<void(const std::string& text)> warn_;
  bool is_busy_ = false;
  // Look() was called while busy: the answer on its way may be older.
  bool has_news_ = false;
  bool is_over_ = false;
  // The pane of this session.
  v1::Pane own_;
  // Done, and not on record for want of a broker.
  std::optional<v1::MonitorPane> unrecorded_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_MONITOR_OPENER_H_
