#include "worker-agent/link/workspace_calls.h"

#include <utility>

#include "broker/base/error.h"
#include "intercom/v1/workspace.grpc.pb.h"
#include "worker-agent/link/channel.h"
#include "worker-agent/link/open_calls.h"

namespace intercom {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(10);

}  // namespace

struct WorkspaceCalls::Connection {
  std::unique_ptr<v1::WorkspaceService::Stub> stub;
  std::shared_ptr<OpenCalls> calls;
  std::string bearer_token;
  std::string session_token;
};

namespace {

// One call. Lives by itself until gRPC is done with it.
template <typename Request, typename Response>
class UnaryCall : public grpc::ClientUnaryReactor {
 public:
  UnaryCall(Request request, std::shared_ptr<OpenCalls> calls,
            std::function<void(absl::StatusOr<Response>)> done)
      : request_(std::move(request)),
        calls_(std::move(calls)),
        done_(std::move(done)) {}

  grpc::ClientContext& context() { return context_; }
  const Request* request() const { return &request_; }
  Response* response() { return &response_; }
  // Keeps this object and what it needs until the end of the call.
  void Hold(std::shared_ptr<void> self,
            std::shared_ptr<const void> connection) {
    self_ = std::move(self);
    connection_ = std::move(connection);
  }

  void OnDone(const grpc::Status& status) override {
    if (status.ok()) {
      done_(std::move(response_));
    } else {
      done_(FromGrpc(status, context_));
    }
    // This object may be gone as soon as it is handed over.
    const std::shared_ptr<OpenCalls> calls = calls_;
    calls->Finished(&context_, std::move(self_));
  }

 private:
  grpc::ClientContext context_;
  const Request request_;
  Response response_;
  const std::shared_ptr<OpenCalls> calls_;
  const std::function<void(absl::StatusOr<Response>)> done_;
  std::shared_ptr<void> self_;
  std::shared_ptr<const void> connection_;
};

}  // namespace

WorkspaceCalls::WorkspaceCalls(std::shared_ptr<grpc::Channel> channel,
                               std::shared_ptr<OpenCalls> calls,
                               std::string bearer_token,
                               std::string session_token,
                               std::shared_ptr<PostGate> gate)
    : connection_(std::make_shared<const Connection>(Connection{
          v1::WorkspaceService::NewStub(std::move(channel)), std::move(calls),
          std::move(bearer_token), std::move(session_token)})),
      gate_(std::move(gate)) {}

WorkspaceCalls::~WorkspaceCalls() = default;

// A change whose connection broke may have been made.
template <typename Response>
WorkspaceCalls::Answer<Response> Unknown(
    WorkspaceCalls::Answer<Response> answer) {
  return [answer = std::move(answer)](absl::StatusOr<Response> response) {
    if (ReasonOf(response.status()) == "BROKER_UNREACHABLE") {
      response = Error(absl::StatusCode::kUnavailable, "OUTCOME_UNKNOWN",
                       "the connection broke before the broker answered; "
                       "whether it took effect is unknown, intercom_list shows "
                       "how things are");
    }
    answer(std::move(response));
  };
}

template <typename Request, typename Response, typename Method>
void WorkspaceCalls::Call(Method method, Request request,
                          Answer<Response> answer) {
  auto call = std::make_shared<UnaryCall<Request, Response>>(
      std::move(request), connection_->calls,
      [gate = gate_, answer](absl::StatusOr<Response> response) {
        gate->Post([answer, response = std::move(response)]() mutable {
          answer(std::move(response));
        });
      });
  call->Hold(call, connection_);
  connection_->calls->Opened(&call->context());
  SetTimeout(call->context(), kDeadline);
  AddIdentity(call->context(), connection_->bearer_token,
              connection_->session_token);
  (connection_->stub->async()->*method)(&call->context(), call->request(),
                                        call->response(), call.get());
  call->StartCall();
}

// Each method of the stub has two overloads: this picks that for reactors.
template <typename Request, typename Response>
using StubMethod = void (v1::WorkspaceService::Stub::async::*)(
    grpc::ClientContext*, const Request*, Response*, grpc::ClientUnaryReactor*);

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
  Call(method, std::move(request), Unknown(std::move(answer)));
}

void WorkspaceCalls::ReloadWorker(v1::ReloadWorkerRequest request,
                                  Answer<v1::ReloadWorkerResponse> answer) {
  const StubMethod<v1::ReloadWorkerRequest, v1::ReloadWorkerResponse> method =
      &v1::WorkspaceService::Stub::async::ReloadWorker;
  Call(method, std::move(request), Unknown(std::move(answer)));
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
  Call(method, std::move(request), Unknown(std::move(answer)));
}

}  // namespace intercom
