#ifndef PI_INTERCOM_WORKER_AGENT_AGENT_H_
#define PI_INTERCOM_WORKER_AGENT_AGENT_H_

#include <functional>
#include <optional>
#include <string>

#include "broker/base/random.h"
#include "broker/base/task_runner.h"
#include "worker-agent/delivery_desk.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/session_view.h"
#include "worker-agent/tool_calls.h"

namespace intercom {

// Stands between one host session and the broker: what host/README.md promises
// the host. Everything happens on `runner`.
class Agent {
 public:
  struct Options {
    BrokerLink::Options link;
    // Where the host names no workspace root; may be empty.
    std::string workspace_root;
    // For the broker's answer to a goodbye.
    absl::Duration goodbye_timeout = absl::Seconds(1);
  };

  // Makes sure that a broker runs, for a session in this directory; may block.
  using EnsureBroker = std::function<absl::Status(const std::string& cwd)>;

  // Reads the host on `in` and writes to it on `out`. `finished` is called once
  // when the agent has nothing left to do. What is passed must outlive it.
  Agent(Options options, int in, int out, TaskRunner& runner,
        TaskRunner& blocking, Random& random, EnsureBroker ensure_broker,
        std::function<void()> finished);

  // Says goodbye, unless that is under way, and finishes.
  void Leave(v1::Goodbye::Reason reason);

  // Waits until the host has everything, at most `milliseconds`. Blocks.
  void Flush(int milliseconds) { host_.Flush(milliseconds); }

 private:
  // The host.
  void HandleNotification(const std::string& method, const Json& params);
  void HandleRequest(const std::string& method, const Json& params,
                     const JsonRpc::Respond& respond);
  void Initialize(const Json& params, const JsonRpc::Respond& respond);

  // The broker.
  void HandleWelcome(const v1::Welcome& welcome);
  void HandleFrame(const v1::AttachResponse& frame);
  void HandleControl(const v1::Control& control);
  void AnswerControl(const v1::Control& control,
                     const absl::StatusOr<Json>& answer);

  void ReportLoaded();
  v1::StatusReport OwnStatus() const;
  // Tells the host what changed, if anything did.
  void Publish();

  const Options options_;
  const EnsureBroker ensure_broker_;
  const std::function<void()> finished_;
  SessionView view_;
  Json published_;
  std::string session_id_;
  std::string cwd_;
  std::optional<v1::Activity> activity_;
  bool leaving_ = false;
  // The order matters: the link's end must find the host's link alive.
  JsonRpc host_;
  BrokerLink link_;
  DeliveryDesk desk_;
  ToolCalls tools_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_AGENT_H_
