#ifndef PI_INTERCOM_WORKER_AGENT_LAUNCH_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_LAUNCH_CALLS_H_

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "intercom/v1/work.pb.h"
#include "worker-agent/background.h"
#include "worker-agent/launch_plan.h"
#include "worker-agent/launch_room.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// The tool calls that launch a host. Each is a job of the broker with the
// call's id, and goes: begin the job, find the saved session (resume), tell the
// broker that the launch is about to be submitted, and only when that is on
// disk submit it, then tell what became of it. What could not be told while no
// broker was attached is told at the next attachment. Not thread-safe: on the
// runner of the link.
class LaunchCalls {
 public:
  using Answer =
      std::function<void(const std::string& call_id, const ToolResult&)>;

  // `answer` is called once for each call, also for one that Cancel() ended.
  // What is passed must outlive this object. `launching` is where launches
  // block.
  LaunchCalls(BrokerLink& link, const LaunchRoom& room, Background& launching,
              Answer answer);

  // How the host was started; without it launches are refused.
  void SetHost(std::optional<HostLaunch> host) { host_ = std::move(host); }

  // How many headless workers the session may have, 0 for the usual; `launched`
  // hears of each that a launch started.
  void SetHeadless(int most, std::function<void()> launched) {
    most_headless_ = most;
    launched_headless_ = std::move(launched);
  }

  // Begins the call of the request's job. The session must be attached.
  // `repeated`: an agent that has died may have made it. `focus`: what opens is
  // brought in front.
  void Begin(v1::BeginLaunchRequest request, bool repeated, bool focus = false);

  // Ends the call: nothing is launched unless it is under way already. What to
  // answer; nullopt if it is no open call of this class.
  std::optional<ToolResult> Cancel(const std::string& call_id);

  // The session is attached: tells what waits to be told.
  void Attached();

 private:
  struct Open {
    bool repeated = false;
    bool focus = false;
    bool cancelled = false;
    // The launcher has it, or is about to.
    bool submitted = false;
    v1::BeginLaunchResponse begun;
    // The session to open; empty for a new one.
    std::string session_file;
  };
  using Told = std::function<void(absl::StatusOr<v1::AdvanceLaunchResponse>)>;

  void HandleBegun(const std::string& call_id,
                   const absl::StatusOr<v1::BeginLaunchResponse>& begun);
  void FindSession(const std::string& call_id);
  void AnnounceSubmission(const std::string& call_id);
  void Submit(const std::string& call_id);
  void HandleLaunch(const std::string& call_id, const Launch& launch);

  // The launcher is done with a call: lets the next one come to it.
  void BeginNext(const std::string& call_id);
  // Ends a call with nothing launched, telling the broker why.
  void GiveUp(const std::string& call_id, const absl::Status& why);
  void Finish(const std::string& call_id, const ToolResult& result);
  // Tells the broker a step that it must learn, now or later. `told` is called
  // once, now at the latest when it can't be told now.
  void Tell(v1::AdvanceLaunchRequest step, Told told);
  void Advance(const v1::AdvanceLaunchRequest& step, Told told);

  BrokerLink& link_;
  const LaunchRoom& room_;
  Background& launching_;
  const Answer answer_;
  std::optional<HostLaunch> host_;
  int most_headless_ = 0;
  std::function<void()> launched_headless_;
  // By call, which is the job.
  std::map<std::string, Open> open_;
  // One launch at a time: the one that the launcher has, or is about to have;
  // the others wait and are not announced yet, so that each can be cancelled.
  std::string launched_;
  std::deque<std::string> waiting_;
  // Last steps that the broker has not confirmed, by job: at most one for each
  // call that was begun while attached.
  std::map<std::string, v1::AdvanceLaunchRequest> untold_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LAUNCH_CALLS_H_
