#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_DELIVERY_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_DELIVERY_TEXT_H_

#include <string>

#include "intercom/v1/session.pb.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// Who reads a delivery.
struct Reader {
  v1::Role role = v1::ROLE_UNSPECIFIED;
  // Empty without a workspace.
  std::string workspace_root = {};
  // Shown as "~"; may be empty.
  std::string home = {};
  // Whether how to answer is said with messages, asks and replies.
  bool reply_hint = true;
};

// What the model reads of a delivery: who says it, outside the fence and in our
// words; what was said and is attached, fenced; and how to answer.
std::string DeliveryContent(const v1::Delivery& delivery, const Reader& reader);

// One line for a person.
std::string DeliverySummary(const v1::Delivery& delivery);

// The parameters of the `deliver` notification.
Json DeliverParams(const v1::Delivery& delivery, const Reader& reader);

// "a shell of Builder (worker), not a person": who sent it, truthfully.
std::string SenderLabel(const v1::Sender& sender);
// The same in a table: "shell of Builder", "person", "broker", "Builder".
std::string ShortSenderLabel(const v1::Sender& sender);

// "session", "shell", "person", "broker", "client".
std::string_view OriginLabel(v1::Origin origin);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_DELIVERY_TEXT_H_
