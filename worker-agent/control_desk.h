#ifndef PI_INTERCOM_WORKER_AGENT_CONTROL_DESK_H_
#define PI_INTERCOM_WORKER_AGENT_CONTROL_DESK_H_

#include <functional>
#include <string>

#include "intercom/v1/session.pb.h"
#include "worker-agent/background.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/launch_room.h"

namespace intercom {

// Answers the broker's controls: most by asking the host, those about panes by
// the room `launch`. A control that was not answered in its time is not
// answered later by something that still happens: work on panes that has not
// begun by then never begins. Not thread-safe.
class ControlDesk {
 public:
  // What the desk asks of, and tells to, the session that it serves.
  struct Session {
    std::function<std::string(const v1::AgentEntry&)> instructions_with;
    // The host took the entry on.
    std::function<void(const v1::AgentEntry&)> reloaded;
    std::function<v1::StatusReport()> own_status;
    // Who it is, without session file and pane.
    std::function<v1::HostIdentity()> identity;
  };
  using SendFrame = std::function<void(v1::AttachRequest)>;

  // `send` drops frames while nothing is attached. `panes` is where questions
  // about panes block. What is passed must outlive this object.
  ControlDesk(JsonRpc& host, const LaunchRoom& room, Background& panes,
              Session session, SendFrame send);

  void Handle(const v1::Control& control);

  // The session is no longer attached: nothing more is prepared for a close.
  void StreamLost() { preparing_job_.clear(); }

  // The host's `job` notification.
  void HandleJob(const Json& params);

 private:
  // Puts what the host answered into the result.
  using Fill = std::function<void(const Json& answer, v1::ControlResult&)>;

  void AskHost(const v1::Control& control, Json params, Fill fill);
  void Reload(const v1::Control& control);
  void ReportStatus(const v1::Control& control, const char* kind);
  void Stop(const v1::Control& control);
  void PrepareClose(const v1::Control& control);
  void CommitClose(const v1::Control& control);
  void EndClose(const v1::Control& control);
  void InspectHost(const v1::Control& control);
  void ClosePane(const v1::Control& control);

  void Refuse(const v1::Control& control, const absl::Status& why);
  void Send(v1::ControlResult result);

  JsonRpc& host_;
  const LaunchRoom& room_;
  Background& panes_;
  const Session session_;
  const SendFrame send_;
  // The close job that the host is to prepare for, while its pane is looked
  // for.
  std::string preparing_job_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CONTROL_DESK_H_
