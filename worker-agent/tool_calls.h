#ifndef PI_INTERCOM_WORKER_AGENT_TOOL_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOL_CALLS_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/launch_calls.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/pane_opener.h"
#include "worker-agent/peer_calls.h"
#include "worker-agent/run_calls.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// Carries the host's tool calls to the broker and answers them. Not
// thread-safe: on the runner of the link.
class ToolCalls {
 public:
  // What is passed must outlive this object. `own_status` is the session's own
  // view of itself; `launching` is where launches block. Of `peers` the pane is
  // filled in here.
  ToolCalls(BrokerLink& link, const LaunchRoom& room, Background& launching,
            std::function<v1::StatusReport()> own_status,
            PeerCalls::Setting peers, RunCalls::Setting runs);

  // How the host was started, once it is known.
  void SetHost(std::optional<HostLaunch> host) {
    panes_.SetHost(host);
    launches_.SetHost(std::move(host));
  }

  // What intercom_watch is called with, and its calls are cancelled by;
  // HandleWatched() takes the answers.
  struct Watches {
    std::function<void(const Json& arguments, const std::string& call_id)> call;
    std::function<std::optional<ToolResult>(const std::string& call_id)> cancel;
  };
  void SetWatches(Watches watches) { watches_ = std::move(watches); }
  void HandleWatched(const std::string& call_id, const ToolResult& result) {
    Answer(call_id, result);
  }
  // How many headless workers the session may have, 0 for the usual; `launched`
  // hears of each that it started.
  void SetHeadless(int most, const std::function<void()>& launched) {
    panes_.SetHeadless(most, launched);
    launches_.SetHeadless(most, launched);
  }

  // The `tools/call` request. A refusal is a result that says so; an error of
  // the request itself means that it can't be read.
  void Call(const Json& params, JsonRpc::Respond respond);

  // The `tools/cancel` notification.
  void Cancel(const Json& params);

  // The session is attached.
  void Attached() {
    launches_.Attached();
    panes_.Attached();
    peers_.Attached();
    runs_.Attached();
  }
  // It never will be again.
  void LinkOver(const absl::Status& why) {
    peers_.LinkOver(why);
    runs_.LinkOver(why);
  }

  PeerCalls& peers() { return peers_; }
  RunCalls& runs() { return runs_; }

 private:
  struct Row;
  using Make = void (ToolCalls::*)(const Json& arguments,
                                   const std::string& call_id, bool repeated);

  // The call of a tool that is one request and its answer.
  template <auto kRequestOf, auto kRender>
  void Plain(const Json& arguments, const std::string& call_id, bool repeated);
  void Create(const Json& arguments, const std::string& call_id, bool repeated);
  void Resume(const Json& arguments, const std::string& call_id, bool repeated);
  void ReportStatus(const Json& arguments, const std::string& call_id,
                    bool repeated);
  void WorkerStatus(const Json& arguments, const std::string& call_id,
                    bool repeated);

  // `repeated`: an agent that has died may have made the call.
  void Send(const Json& arguments, const std::string& call_id, bool repeated);
  // The call of a tool for talking to other sessions, or one that needs none of
  // them; false for others.
  bool Talk(const std::string& name, const Json& arguments,
            const PeerCalls::Call& call);
  // `arguments` without empty ones and aliases.
  void Intercom(const Json& arguments, const PeerCalls::Call& call);
  void Dispatch(const std::string& name, const Json& arguments,
                const std::string& call_id, bool repeated);
  // `truncated`: a larger page was too large for a result.
  void AskForPage(const v1::GetWorkerStatusRequest& request, bool truncated,
                  const std::string& call_id);
  // Answers the call, once. False if it was open no more.
  bool TryAnswer(const std::string& call_id, const ToolResult& result);
  void Answer(const std::string& call_id, const ToolResult& result) {
    TryAnswer(call_id, result);
  }

  template <typename Response>
  SessionCalls::Answer<Response> AnswerWith(
      const std::string& call_id, ToolResult (*render)(const Response&));

  BrokerLink& link_;
  const std::function<v1::StatusReport()> own_status_;
  std::map<std::string, JsonRpc::Respond> open_;
  LaunchCalls launches_;
  PaneOpener panes_;
  PeerCalls peers_;
  Watches watches_;
  RunCalls runs_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOL_CALLS_H_
