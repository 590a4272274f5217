#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_RECORD_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_RECORD_TEXT_H_

#include <string>

#include "absl/time/time.h"
#include "intercom/v1/envelope.pb.h"

namespace intercom {

// The recipient's name, else its id, as it came in.
std::string RecipientName(const v1::DeliveryRecord& record);

// " message from Ann (worker) to Builder": what stands behind its id.
std::string RecordHeadline(const v1::DeliveryRecord& record);

// Each state with its time and evidence, then where it waits, since when and
// why, or how it ended. Lines ended by LF.
std::string RecordStates(const v1::DeliveryRecord& record, absl::Time now);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_RECORD_TEXT_H_
