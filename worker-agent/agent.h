#ifndef PI_INTERCOM_WORKER_AGENT_AGENT_H_
#define PI_INTERCOM_WORKER_AGENT_AGENT_H_

#include <functional>
#include <optional>
#include <string>

#include "broker/base/clock.h"
#include "broker/base/random.h"
#include "broker/base/task_runner.h"
#include "worker-agent/background.h"
#include "worker-agent/bulletins.h"
#include "worker-agent/channel_calls.h"
#include "worker-agent/control_desk.h"
#include "worker-agent/delivery_desk.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/initialize.h"
#include "worker-agent/launch_room.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/monitor_opener.h"
#include "worker-agent/run_news_desk.h"
#include "worker-agent/run_work.h"
#include "worker-agent/session_view.h"
#include "worker-agent/tab_title.h"
#include "worker-agent/tool_calls.h"
#include "worker-agent/watch/watch_calls.h"

namespace intercom {

// Stands between one host session and the broker: what host/README.md promises
// the host. Everything happens on `runners.agent`.
class Agent {
 public:
  struct Runners {
    TaskRunner& agent;
    // Where things block: starting a broker, launching a host, asking a
    // multiplexer about panes. A launch may take 40 s, and keeps nobody else
    // waiting.
    TaskRunner& starting;
    TaskRunner& launching;
    TaskRunner& panes;
  };
  struct Options {
    BrokerLink::Options link;
    // Where the host names no workspace root; may be empty.
    std::string workspace_root;
    // For the broker's answer to a goodbye.
    absl::Duration goodbye_timeout = absl::Seconds(1);
    AskCalls::Pace asks = {};
    RunWaits::Pace waits = {};
    // How often open runs are told of when nothing else is.
    absl::Duration check_in = absl::Minutes(5);
  };

  // Makes sure that a broker runs, for a session in this directory; may block.
  using EnsureBroker = std::function<absl::Status(const std::string& cwd)>;

  // Reads the host on `in` and writes to it on `out`. `finished` is called once
  // when the agent has nothing left to do. What is passed must outlive it.
  Agent(Options options, int in, int out, Runners runners, const Clock& clock,
        Random& random, EnsureBroker ensure_broker, LaunchRoom room,
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
  void Apply(const HostSettings& settings);

  // The broker.
  void HandleWelcome(const v1::Welcome& welcome);
  void HandleFrame(const v1::AttachResponse& frame);
  void HandleLost();
  void HandleAsks(const v1::PendingAsks& asks);
  void HandleOpenRuns(const v1::OpenRuns& runs);
  void HandleRunNews(const v1::RunNews& news);

  // What the watches have to say, or nothing any more.
  void SayWatched(const std::optional<WatchBulletin>& bulletin);
  void SetPrograms(bool allowed);

  void ReportLoaded();
  void TakeEntry(const v1::AgentEntry& entry);
  v1::HostIdentity Identity() const;
  v1::StatusReport OwnStatus() const;
  Reader ReaderOfDeliveries() const;
  PeerCalls::Setting TalkSetting(TaskRunner& runner, const Clock& clock);
  RunCalls::Setting RunSetting(TaskRunner& runner, const Clock& clock);
  RunNewsDesk::Setting NewsSetting(TaskRunner& runner, const Clock& clock);
  // One line for a person: what an open call waits for.
  void ShowProgress(const std::string& call_id, const std::string& text);
  // A coordinator has the monitor above it.
  void LookForMonitor();
  // Tells the host what changed, if anything did; a worker's tab follows.
  void Publish();
  void Warn(const std::string& text);

  const Options options_;
  const EnsureBroker ensure_broker_;
  const LaunchRoom room_;
  const std::function<void()> finished_;
  SessionView view_;
  Json published_;
  // Until `initialize` empty.
  v1::Hello hello_;
  std::optional<v1::Activity> activity_;
  bool reply_hint_ = true;
  // Asks that wait for this session's answer.
  int pending_asks_ = 0;
  // The host was told that its session is refused, and dropped what it held.
  bool host_dropped_ = false;
  bool leaving_ = false;
  // The order matters: the link's end must find the host's link alive.
  JsonRpc host_;
  BrokerLink link_;
  Background launching_;
  Background panes_;
  DeliveryDesk desk_;
  ControlDesk controls_;
  ChannelCalls channels_;
  RunWork work_;
  Bulletins bulletins_;
  RunNewsDesk run_news_;
  TabTitle title_;
  MonitorOpener monitor_;
  ToolCalls tools_;
  WatchCalls watches_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_AGENT_H_
