#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_ASK_RESULT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_ASK_RESULT_H_

#include <string>

#include "absl/time/time.h"
#include "google/protobuf/repeated_field.h"
#include "intercom/v1/ask.pb.h"
#include "worker-agent/tools/tool_result.h"

namespace intercom {

// An ask as its sender knows it while it waits.
struct SentAsk {
  std::string message_id;
  // Empty until it is accepted.
  std::string delivery_id;
  // The recipient's name or id, as it came in.
  std::string recipient;
  absl::Duration reply_within;
  v1::DeliveryState state = v1::DELIVERY_STATE_UNSPECIFIED;
  v1::WaitReason wait_reason = v1::WAIT_REASON_UNSPECIFIED;
};

// The reply that an ask got: attributed, fenced, with its attachments.
ToolResult RenderReply(const SentAsk& ask, const v1::DeliveryRecord& reply);

// An ask that ended without one. `how` is not OPEN.
ToolResult RenderUnanswered(const SentAsk& ask, v1::Ask::State how);
// Its caller stopped waiting.
ToolResult RenderStoppedWaiting(const SentAsk& ask);
// Its time is over and no broker could be asked how it is; `why` is the last
// that was heard of one.
ToolResult RenderUnknownAsk(const SentAsk& ask, const absl::Status& why);
// No broker can be waited on any more.
ToolResult RenderBrokenAsk(const SentAsk& ask, const absl::Status& why);

// "waiting for planner (12s): in its session": one line for a person.
std::string AskProgress(const SentAsk& ask, absl::Duration waited,
                        bool connected);

// Asks that wait for this session's answer: as `asks` carries them, and for the
// model.
Json AsksJson(const google::protobuf::RepeatedPtrField<v1::Ask>& asks);
ToolResult RenderPending(
    const google::protobuf::RepeatedPtrField<v1::Ask>& asks, absl::Time now);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_ASK_RESULT_H_
