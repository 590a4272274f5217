#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_RESULT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_RESULT_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "intercom/v1/message.pb.h"
#include "intercom/v1/roster.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// What the actions of `intercom` answer, but for lists and asks.

// An accepted message or reply. `asked_for_reply_to`: the caller named what it
// answers, or used the action reply.
ToolResult RenderSent(const v1::DeliveryRecord& record, bool asked_for_reply);

// Where one message is.
ToolResult RenderMessageStatus(const v1::DeliveryRecord& record,
                               absl::Time now);

ToolResult RenderWithdrawn(const v1::WithdrawMessageResponse& response,
                           const std::string& message_id);
// A withdrawal that was refused, or whose outcome is not known.
ToolResult RenderNotWithdrawn(const absl::Status& status,
                              const std::string& message_id);

// What a session knows of itself and of its link.
struct OwnSession {
  bool connected = false;
  // Why not, if it is known.
  std::string trouble;
  std::string session_id;
  std::string name;
  std::string stable_id;
  std::string scope;
  std::string role;
  std::string workspace_root;
  std::string broker_version;
  int port = 0;
  // Asks that wait for its answer, and its own that wait for one.
  int pending_asks = 0;
  int open_asks = 0;
};

// `sessions` is what the broker lists, where it could be asked.
ToolResult RenderOwnSession(
    const OwnSession& own,
    const std::optional<v1::ListSessionsResponse>& sessions);

// "accepted", "in its session": how far a delivery has come, for a sender.
std::string_view ProgressLabel(v1::DeliveryState state);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_PEER_RESULT_H_
