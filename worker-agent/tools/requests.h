#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_REQUESTS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_REQUESTS_H_

#include <string>

#include "intercom/v1/session.pb.h"
#include "intercom/v1/work.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// The requests that tool calls stand for. All take arguments that
// CheckArguments() found good.

// `call_id` becomes the envelope id, so that a repeated call sends once.
v1::Submit SubmitOf(const Json& arguments, const std::string& call_id);

// Has `submit` open a run where the arguments say so: by run, or by a label.
void AddRun(const Json& arguments, v1::Submit& submit);

// `call_id` becomes the job id, so that a repeated call launches once.
v1::BeginLaunchRequest CreateRequestOf(const Json& arguments,
                                       const std::string& call_id);
v1::BeginLaunchRequest ResumeRequestOf(const Json& arguments,
                                       const std::string& call_id);

v1::GetWorkspaceRequest ListRequestOf(const Json& arguments);
v1::ConfigureWorkerRequest ConfigureWorkerRequestOf(const Json& arguments);
v1::ReloadWorkerRequest ReloadWorkerRequestOf(const Json& arguments);
v1::GetWorkerStatusRequest WorkerStatusRequestOf(const Json& arguments);
v1::RequestStatusRequest RequestStatusRequestOf(const Json& arguments);
v1::ReportWorkRequest ReportWorkRequestOf(const Json& arguments);
v1::StopWorkerRequest StopWorkerRequestOf(const Json& arguments);
v1::CloseWorkerRequest CloseWorkerRequestOf(const Json& arguments);
v1::ReportHandoffRequest ReportHandoffRequestOf(const Json& arguments);
v1::RemoveWorkerRequest RemoveWorkerRequestOf(const Json& arguments);
v1::SetMultiplexerRequest SetMultiplexerRequestOf(const Json& arguments);
v1::RegisterRequest RegisterRequestOf(const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_REQUESTS_H_
