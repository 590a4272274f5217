#ifndef PI_INTERCOM_WORKER_AGENT_TOOLS_REQUESTS_H_
#define PI_INTERCOM_WORKER_AGENT_TOOLS_REQUESTS_H_

#include <string>

#include "intercom/v1/session.pb.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/host/json_fields.h"

namespace intercom {

// The requests that tool calls stand for. All take arguments that
// CheckArguments() found good.

// `call_id` becomes the envelope id, so that a repeated call sends once.
v1::Submit SubmitOf(const Json& arguments, const std::string& call_id);
v1::ConfigureWorkerRequest ConfigureWorkerRequestOf(const Json& arguments);
v1::ReloadWorkerRequest ReloadWorkerRequestOf(const Json& arguments);
v1::RequestStatusRequest RequestStatusRequestOf(const Json& arguments);

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_TOOLS_REQUESTS_H_
