#ifndef PI_INTERCOM_WORKER_AGENT_LINK_WORKSPACE_CALLS_H_
#define PI_INTERCOM_WORKER_AGENT_LINK_WORKSPACE_CALLS_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "intercom/v1/workspace.pb.h"
#include "worker-agent/link/post_gate.h"

namespace grpc {
class Channel;
}  // namespace grpc

namespace intercom {

class OpenCalls;

// The unary calls of one attached session. Answers come through the gate, on
// its runner, within 10 s.
class WorkspaceCalls {
 public:
  template <typename Response>
  using Answer = std::function<void(absl::StatusOr<Response>)>;

  // The tokens identify the caller to the broker; see AddIdentity().
  WorkspaceCalls(std::shared_ptr<grpc::Channel> channel,
                 std::shared_ptr<OpenCalls> calls, std::string bearer_token,
                 std::string session_token, std::shared_ptr<PostGate> gate);
  ~WorkspaceCalls();

  void GetWorkspace(v1::GetWorkspaceRequest request,
                    Answer<v1::GetWorkspaceResponse> answer);
  void ConfigureWorker(v1::ConfigureWorkerRequest request,
                       Answer<v1::ConfigureWorkerResponse> answer);
  void ReloadWorker(v1::ReloadWorkerRequest request,
                    Answer<v1::ReloadWorkerResponse> answer);
  void RequestStatus(v1::RequestStatusRequest request,
                     Answer<v1::RequestStatusResponse> answer);
  void ReportStatus(v1::ReportStatusRequest request,
                    Answer<v1::ReportStatusResponse> answer);

 private:
  struct Connection;

  template <typename Request, typename Response, typename Method>
  void Call(Method method, Request request, Answer<Response> answer);

  // Shared with the calls that are open.
  const std::shared_ptr<const Connection> connection_;
  const std::shared_ptr<PostGate> gate_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_LINK_WORKSPACE_CALLS_H_
