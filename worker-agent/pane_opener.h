#ifndef PI_INTERCOM_WORKER_AGENT_PANE_OPENER_H_
#define PI_INTERCOM_WORKER_AGENT_PANE_OPENER_H_

#include <functional>
#include <map>
#include <string>

#include "intercom/v1/work.pb.h"
#include "worker-agent/launch_calls.h"
#include "worker-agent/open_pane.h"

namespace intercom {

// Opens project panes: launches a session in a directory and waits until it is
// attached, 20 s at most. What the launch came to, whether the session
// attached, and what becomes of the message are told apart. Not thread-safe: on
// the runner of the link.
class PaneOpener {
 public:
  // What is passed must outlive this object.
  PaneOpener(BrokerLink& link, const LaunchRoom& room, Background& launching);

  void SetHost(std::optional<HostLaunch> host) {
    launches_.SetHost(std::move(host));
  }

  void SetHeadless(int most, std::function<void()> launched) {
    launches_.SetHeadless(most, std::move(launched));
  }

  using Done = std::function<void(absl::StatusOr<OpenedPane>)>;
  // The session must be attached. `done` is called once.
  void Open(const PaneRequest& request, Done done);

  // Nothing is launched for the call unless it is under way already; its `done`
  // is called all the same.
  void Cancel(const std::string& call_id);

  // The session is attached: tells what waits to be told.
  void Attached() { launches_.Attached(); }

 private:
  void HandleLaunched(const std::string& call_id, const ToolResult& result);
  void Finish(const std::string& call_id, absl::StatusOr<OpenedPane> opened);

  BrokerLink& link_;
  LaunchCalls launches_;
  // By call, which is the job.
  std::map<std::string, Done> open_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_PANE_OPENER_H_
