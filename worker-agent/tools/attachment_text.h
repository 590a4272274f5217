#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_ATTACHMENT_TEXT_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_ATTACHMENT_TEXT_H_

#include <cstddef>
#include <string>

#include "intercom/v1/envelope.pb.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// Of all attachments of one message together, as a model reads them.
inline constexpr size_t kMaxAttachmentBytes = 160 << 10;

// What the model reads of a message's attachments: each with its type, name and
// language outside the fence and its content fenced. What exceeds the bound is
// cut between lines, and said. Empty without attachments; else ended by LF.
std::string AttachmentsText(const v1::Envelope& envelope);

// The same without contents: `[{type, name, language?, characters}]`.
Json AttachmentsJson(const v1::Envelope& envelope);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_ATTACHMENT_TEXT_H_
