#ifndef PI_INTERCOM_WORKER_AGENT_TOOL_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOL_CALLS_H_

#include <functional>
#include <map>
#include <string>

#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_rpc.h"
#include "worker-agent/link/broker_link.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// Carries the host's tool calls to the broker and answers them. Not
// thread-safe: on the runner of the link.
class ToolCalls {
 public:
  // `link` must outlive this object. `own_status` is the session's own view of
  // itself.
  ToolCalls(BrokerLink& link, std::function<v1::StatusReport()> own_status);

  // The `tools/call` request. A refusal is a result that says so; an error of
  // the request itself means that it can't be read.
  void Call(const Json& params, JsonRpc::Respond respond);

  // The `tools/cancel` notification.
  void Cancel(const Json& params);

 private:
  // `repeated`: an agent that has died may have made the call.
  void Send(const Json& arguments, const std::string& call_id, bool repeated);
  // Makes the unary call of tool `name`.
  void CallWorkspace(const std::string& name, const Json& arguments,
                     const std::string& call_id, bool repeated);
  // Answers the call, once.
  void Answer(const std::string& call_id, const ToolResult& result);

  template <typename Response>
  WorkspaceCalls::Answer<Response> AnswerWith(
      const std::string& call_id, ToolResult (*render)(const Response&));

  BrokerLink& link_;
  const std::function<v1::StatusReport()> own_status_;
  std::map<std::string, JsonRpc::Respond> open_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOL_CALLS_H_
