#include "worker-agent/cli/broker_client.h"

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/status_macros.h"
#include "worker-agent/link/broker_address.h"
#include "worker-agent/link/channel.h"

namespace intercom {
namespace {

constexpr absl::Duration kDeadline = absl::Seconds(10);

}  // namespace

BrokerClient::BrokerClient(const std::string& home)
    : home_(home),
      channel_(MakeChannel(UnixAddress(home))),
      workspace_(v1::WorkspaceService::NewStub(channel_)),
      messages_(v1::MessageService::NewStub(channel_)),
      inspection_(v1::InspectionService::NewStub(channel_)),
      work_(v1::WorkService::NewStub(channel_)) {}

absl::Status BrokerClient::Connect(absl::Time deadline) {
  grpc_connectivity_state state = channel_->GetState(/*try_to_connect=*/true);
  while (state != GRPC_CHANNEL_READY) {
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE) {
      return Error(absl::StatusCode::kUnavailable, "BROKER_NOT_RUNNING",
                   "no broker runs for the state directory " + home_ +
                       "; a Pi session starts one, or: intercom broker start");
    }
    if (!channel_->WaitForStateChange(state, absl::ToChronoTime(deadline))) {
      return Error(absl::StatusCode::kDeadlineExceeded, "BROKER_HUNG",
                   "the broker does not answer; nothing was sent. Replace it "
                   "with: intercom broker restart");
    }
    state = channel_->GetState(/*try_to_connect=*/true);
  }
  return absl::OkStatus();
}

template <typename Response, typename Stub, typename Request>
absl::StatusOr<Response> BrokerClient::Call(
    Stub& stub,
    grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                 Response*),
    const Request& request) {
  const absl::Time deadline = SystemClock().Now() + kDeadline;
  INTERCOM_RETURN_IF_ERROR(Connect(deadline));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (status.ok()) return response;
  absl::Status failure = FromGrpc(status, context);
  if (ReasonOf(failure) == "BROKER_UNREACHABLE") {
    return Error(absl::StatusCode::kUnavailable, "CONNECTION_LOST",
                 "the broker ended before it answered");
  }
  return failure;
}

absl::StatusOr<v1::GetWorkspaceResponse> BrokerClient::GetWorkspace(
    const v1::GetWorkspaceRequest& request) {
  return Call(*workspace_, &v1::WorkspaceService::Stub::GetWorkspace, request);
}

absl::StatusOr<v1::SendResponse> BrokerClient::Send(
    const v1::SendRequest& request) {
  return Call(*messages_, &v1::MessageService::Stub::Send, request);
}

absl::StatusOr<v1::GetMessageResponse> BrokerClient::GetMessage(
    const v1::GetMessageRequest& request) {
  return Call(*messages_, &v1::MessageService::Stub::GetMessage, request);
}

absl::StatusOr<v1::ListMessagesResponse> BrokerClient::ListMessages(
    const v1::ListMessagesRequest& request) {
  return Call(*messages_, &v1::MessageService::Stub::ListMessages, request);
}

absl::StatusOr<v1::GetBrokerResponse> BrokerClient::GetBroker() {
  return Call(*inspection_, &v1::InspectionService::Stub::GetBroker,
              v1::GetBrokerRequest());
}

absl::StatusOr<v1::ListAttachmentsResponse> BrokerClient::ListAttachments() {
  return Call(*inspection_, &v1::InspectionService::Stub::ListAttachments,
              v1::ListAttachmentsRequest());
}

absl::StatusOr<v1::ListMailboxesResponse> BrokerClient::ListMailboxes() {
  return Call(*inspection_, &v1::InspectionService::Stub::ListMailboxes,
              v1::ListMailboxesRequest());
}

absl::StatusOr<v1::GetWorkerStatusResponse> BrokerClient::GetWorkerStatus(
    const v1::GetWorkerStatusRequest& request) {
  return Call(*workspace_, &v1::WorkspaceService::Stub::GetWorkerStatus,
              request);
}

absl::StatusOr<v1::ConfirmCoordinatorResponse> BrokerClient::ConfirmCoordinator(
    const v1::ConfirmCoordinatorRequest& request) {
  return Call(*workspace_, &v1::WorkspaceService::Stub::ConfirmCoordinator,
              request);
}

absl::StatusOr<v1::ListObservationsResponse> BrokerClient::ListObservations(
    const v1::ListObservationsRequest& request) {
  return Call(*inspection_, &v1::InspectionService::Stub::ListObservations,
              request);
}

absl::StatusOr<v1::ListJobsResponse> BrokerClient::ListJobs(
    const v1::ListJobsRequest& request) {
  return Call(*work_, &v1::WorkService::Stub::ListJobs, request);
}

absl::StatusOr<v1::GetJobResponse> BrokerClient::GetJob(
    const v1::GetJobRequest& request) {
  return Call(*work_, &v1::WorkService::Stub::GetJob, request);
}

absl::StatusOr<v1::ResolveJobResponse> BrokerClient::ResolveJob(
    const v1::ResolveJobRequest& request) {
  return Call(*work_, &v1::WorkService::Stub::ResolveJob, request);
}

}  // namespace intercom
