#ifndef PI_INTERCOM_WORKER_AGENT_RUN_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_RUN_CALLS_H_

#include <functional>
#include <string>
#include <vector>

#include "broker/base/clock.h"
#include "worker-agent/host/json_fields.h"
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
    // The host has got the results of these runs.
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

  // Drains under each of `drain_ids` from `next` on, and adds to `so_far`.
  void Drain(const std::string& call_id,
             const std::vector<std::string>& drain_ids, size_t next,
             const v1::DrainInboxResponse& so_far);
  void GiveUp(const std::string& call_id,
              const std::vector<std::string>& drain_ids,
              const absl::Status& why);
  // Remembers drains whose notes nobody has seen.
  void Keep(const std::vector<std::string>& drain_ids);

  // Answers the call, and says what it collected.
  void Conclude(const std::string& call_id, const ToolResult& result);

  BrokerLink& link_;
  const Setting setting_;
  const Answer answer_;
  // Drains that the broker may have made, and whose notes reached no host: the
  // next call repeats them, so that they are not lost.
  std::vector<std::string> unseen_drains_;
  RunWaits waits_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_RUN_CALLS_H_
