#include "worker-agent/link/workspace_calls.h"

#include <utility>

#include "intercom/v1/workspace.grpc.pb.h"
#include "worker-agent/link/channel.h"

namespace intercom {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(10);

}  // namespace

struct WorkspaceCalls::Connection {
  std::unique_ptr<v1::WorkspaceService::Stub> stub;
  std::string bearer_token;
  std::string session_token;
};

WorkspaceCalls::WorkspaceCalls(std::shared_ptr<grpc::Channel> channel,
                               std::string bearer_token,
                               std::string session_token,
                               std::shared_ptr<PostGate> gate)
    : connection_(std::make_shared<Connection>(
          Connection{v1::WorkspaceService::NewStub(std::move(channel)),
                     std::move(bearer_token), std::move(session_token)})),
      gate_(std::move(gate)) {}

WorkspaceCalls::~WorkspaceCalls() = default;

template <typename Request, typename Response, typename Method>
void WorkspaceCalls::Call(Method method, Request request,
                          Answer<Response> answer) {
  struct State {
    std::shared_ptr<Connection> connection;
    grpc::ClientContext context;
    Request request;
    Response response;
  };
  auto state = std::make_shared<State>();
  state->connection = connection_;
  state->request = std::move(request);
  SetTimeout(state->context, kDeadline);
  AddIdentity(state->context, connection_->bearer_token,
              connection_->session_token);
  (connection_->stub->async()->*method)(
      &state->context, &state->request, &state->response,
      [state, gate = gate_, answer = std::move(answer)](grpc::Status status) {
        gate->Post([state, answer, status] {
          if (status.ok()) {
            answer(std::move(state->response));
          } else {
            answer(FromGrpc(status, state->context));
          }
        });
      });
}

// Each method of the stub has an overload for reactors: this picks the other.
template <typename Request, typename Response>
using StubMethod = void (v1::WorkspaceService::Stub::async::*)(
    grpc::ClientContext*, const Request*, Response*,
    std::function<void(grpc::Status)>);

void WorkspaceCalls::GetWorkspace(v1::GetWorkspaceRequest request,
                                  Answer<v1::GetWorkspaceResponse> answer) {
  const StubMethod<v1::GetWorkspaceRequest, v1::GetWorkspaceResponse> method =
      &v1::WorkspaceService::Stub::async::GetWorkspace;
  Call(method, std::move(request), std::move(answer));
}

void WorkspaceCalls::ConfigureWorker(
    v1::ConfigureWorkerRequest request,
    Answer<v1::ConfigureWorkerResponse> answer) {
  const StubMethod<v1::ConfigureWorkerRequest, v1::ConfigureWorkerResponse>
      method = &v1::WorkspaceService::Stub::async::ConfigureWorker;
  Call(method, std::move(request), std::move(answer));
}

void WorkspaceCalls::ReloadWorker(v1::ReloadWorkerRequest request,
                                  Answer<v1::ReloadWorkerResponse> answer) {
  const StubMethod<v1::ReloadWorkerRequest, v1::ReloadWorkerResponse> method =
      &v1::WorkspaceService::Stub::async::ReloadWorker;
  Call(method, std::move(request), std::move(answer));
}

void WorkspaceCalls::RequestStatus(v1::RequestStatusRequest request,
                                   Answer<v1::RequestStatusResponse> answer) {
  const StubMethod<v1::RequestStatusRequest, v1::RequestStatusResponse> method =
      &v1::WorkspaceService::Stub::async::RequestStatus;
  Call(method, std::move(request), std::move(answer));
}

void WorkspaceCalls::ReportStatus(v1::ReportStatusRequest request,
                                  Answer<v1::ReportStatusResponse> answer) {
  const StubMethod<v1::ReportStatusRequest, v1::ReportStatusResponse> method =
      &v1::WorkspaceService::Stub::async::ReportStatus;
  Call(method, std::move(request), std::move(answer));
}

}  // namespace intercom
