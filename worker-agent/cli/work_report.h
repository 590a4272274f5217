#ifndef PI_INTERCOM_WORKER_AGENT_CLI_WORK_REPORT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_WORK_REPORT_H_

#include <string>

#include "absl/time/time.h"
#include "intercom/v1/inspect.pb.h"
#include "intercom/v1/work.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/cli/terminal.h"

namespace intercom {

// What the commands about workers print, from what the broker answered. Pure.

// The status page as a table, with reports and handoffs below it.
std::string WorkersReport(const v1::GetWorkerStatusResponse& response,
                          absl::Time now, const Terminal& terminal);
std::string JobsReport(const v1::ListJobsResponse& response, absl::Time now);
// One job, and what a person needs to judge it.
std::string JobReport(const v1::GetJobResponse& response, absl::Time now,
                      const Terminal& terminal);
// Who coordinates, whom the config names, and what is known of both.
std::string CoordinatorsReport(const v1::GetWorkspaceResponse& workspace,
                               absl::Time now, const Terminal& terminal);
std::string ObservationsReport(const v1::ListObservationsResponse& response);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_WORK_REPORT_H_
