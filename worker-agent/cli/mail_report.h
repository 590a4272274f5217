#ifndef PI_INTERCOM_WORKER_AGENT_CLI_MAIL_REPORT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_MAIL_REPORT_H_

#include <string>

#include "intercom/v1/message.pb.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// What is printed of mail to a person. Pure.

bool IsUnread(const v1::DeliveryRecord& record);

// The text of an answer and what is attached to it, without what could steer a
// terminal, and nothing else: for a script.
std::string AnswerText(const v1::DeliveryRecord& reply);

// Each with who sent it and what it answers above its text. `peeked`: it stays
// unread.
std::string InboxReport(const v1::ListInboxResponse& response, bool peeked,
                        const Terminal& terminal);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_MAIL_REPORT_H_
