#ifndef PI_INTERCOM_WORKER_AGENT_CLI_REPORT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/message.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// What the commands print, from what the broker answered. Pure.

std::string WorkspaceReport(const v1::GetWorkspaceResponse& response,
                            const Terminal& terminal);
std::string AttachmentsReport(const v1::ListAttachmentsResponse& response);
std::string SentReport(const v1::DeliveryRecord& record);

// One delivery: each state with its time and evidence, or where it waits, since
// when and why.
std::string RecordReport(const v1::DeliveryRecord& record, absl::Time now,
                         const Terminal& terminal);
// What came of taking a message back.
std::string WithdrawnReport(const v1::WithdrawMessageResponse& response);
std::string HistoryReport(const v1::ListMessagesResponse& response);

std::string BrokerReport(const v1::GetBrokerResponse& response, absl::Time now,
                         const Terminal& terminal);
// Nothing if no mailbox holds mail.
std::string MailboxesReport(const v1::ListMailboxesResponse& response,
                            absl::Time now);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_REPORT_H_
