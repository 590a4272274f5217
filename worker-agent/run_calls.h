#ifndef PI_INTERCOM_WORKER_AGENT_RUN_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_RUN_CALLS_H_

#include <functional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "worker-agent/given_ids.h"
#include "worker-agent/host/json_fields.h"
#include "worker-agent/inbox_calls.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/run_waits.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// The actions of `intercom` by which a session follows its runs: peek, result,
// wait, stop, inbox and message. Not thread-safe: on the runner of the link.
class RunCalls {
 public:
  // Answers a call once. False if it was open no more: then the host has got
  // nothing.
  using Answer =
      std::function<bool(const std::string& call_id, const ToolResult&)>;

  struct Setting {
    TaskRunner& runner;
    const Clock& clock;
    RunWaits::Pace pace;
    RunWaits::Progress progress;
    // What results told of stands in the session's entries.
    InboxCalls::Told told;
    // The results of these runs do.
    std::function<void(const std::vector<std::string>& run_ids)> collected;
  };

  // What is passed must outlive this object.
  RunCalls(BrokerLink& link, Setting setting, Answer answer);

  // Whether it is one of these actions.
  static bool Handles(const std::string& action);

  // Arguments passed CheckPeerArguments(). May repeat a call of an agent that
  // has died: the broker knows a stop by the id of its call.
  void Call(const Json& arguments, const std::string& call_id);

  // Ends a wait, and answers it. False if the call is none.
  bool Cancel(const std::string& call_id);

  // What the host says of the ids that a result brought: they are in the
  // session's entries, or never will be, and are collected by nobody.
  void HandleShown(const std::vector<std::string>& ids);
  void HandleLost(const std::vector<std::string>& ids);

  void Attached() { waits_.Attached(); }
  void LinkOver(const absl::Status& why) { waits_.LinkOver(why); }

 private:
  struct Row;
  using Make = void (RunCalls::*)(const Json& arguments,
                                  const std::string& call_id);

  // Asks the broker, and gives what `render` makes of its answer to Conclude().
  template <typename Response, typename Request, typename Render>
  void Ask(Request request, const std::string& call_id, Render render);

  void Peek(const Json& arguments, const std::string& call_id);
  void Result(const Json& arguments, const std::string& call_id);
  void Wait(const Json& arguments, const std::string& call_id);
  void Stop(const Json& arguments, const std::string& call_id);
  void Inbox(const Json& arguments, const std::string& call_id);
  void Note(const Json& arguments, const std::string& call_id);

  // A run is charged once: it counts as collected where the host was given its
  // result before.
  v1::SettledRun Charged(v1::SettledRun settled) const;

  void Conclude(const std::string& call_id, const ToolResult& result);

  BrokerLink& link_;
  const Setting setting_;
  const Answer answer_;
  // Runs.
  GivenIds given_;
  RunWaits waits_;
  InboxCalls inbox_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_RUN_CALLS_H_
