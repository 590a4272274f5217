#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_DELIVERY_HINT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_DELIVERY_HINT_H_

#include <string>

#include "intercom/v1/session.pb.h"
#include "worker-agent/tools/delivery_text.h"

namespace intercom {

// What a delivery wants of its reader and how to answer it: the last line of
// what the model reads. Empty where there is none.
std::string DeliveryHint(const v1::Delivery& delivery, const Reader& reader);

// Whether intercom_send goes from the reader to the sender.
bool IsInReadersWorkspace(const v1::Sender& sender, const Reader& reader);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_DELIVERY_HINT_H_
