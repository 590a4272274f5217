#ifndef PI_INTERCOM_WORKER_AGENT_CLI_INSPECT_REPORT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_INSPECT_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "intercom/v1/channel.pb.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/roster.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// What is printed of sessions and of what goes on between them. Pure.

std::string SessionsReport(const v1::ListSessionsResponse& response);
std::string RunsReport(const v1::ListAllRunsResponse& response, absl::Time now);
std::string AsksReport(const v1::ListOpenAsksResponse& response,
                       absl::Time now);
// The latest report of each worker that has one.
std::string ReportsReport(const v1::GetWorkspaceResponse& response,
                          absl::Time now, const Terminal& terminal);
std::string ChannelsReport(const v1::ListChannelsResponse& response);
std::string DeliveriesReport(const v1::ListDeliveriesResponse& response,
                             absl::Time now);
std::string ConfigReport(const v1::CheckConfigResponse& response,
                         const Terminal& terminal);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_INSPECT_REPORT_H_
