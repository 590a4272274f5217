#include "worker-agent/cli/broker_client.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "broker/base/clock.h"
#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "broker/base/status_macros.h"
#include "worker-agent/link/broker_address.h"
#include "worker-agent/link/channel.h"

namespace intercom {
BrokerClient::BrokerClient(const std::string& home, absl::Duration deadline)
    : home_(home),
      deadline_(deadline),
      channel_(MakeChannel(UnixAddress(home))),
      workspace_(v1::WorkspaceService::NewStub(channel_)),
      messages_(v1::MessageService::NewStub(channel_)),
      inspection_(v1::InspectionService::NewStub(channel_)),
      work_(v1::WorkService::NewStub(channel_)),
      asks_(v1::AskService::NewStub(channel_)),
      roster_(v1::RosterService::NewStub(channel_)),
      channels_(v1::ChannelService::NewStub(channel_)) {}

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
  const absl::Time deadline = SystemClock().Now() + deadline_;
  INTERCOM_RETURN_IF_ERROR(Connect(deadline));
  grpc::ClientContext context;
  context.set_deadline(absl::ToChronoTime(deadline));
  Response response;
  const grpc::Status status = (stub.*method)(&context, request, &response);
  if (status.ok()) return response;
  return Failure(status, context);
}

absl::Status BrokerClient::Failure(const grpc::Status& status,
                                   const grpc::ClientContext& context) {
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

absl::StatusOr<v1::WithdrawMessageResponse> BrokerClient::WithdrawMessage(
    const v1::WithdrawMessageRequest& request) {
  return Call(*messages_, &v1::MessageService::Stub::WithdrawMessage, request);
}

absl::StatusOr<v1::ListInboxResponse> BrokerClient::ListInbox(
    const v1::ListInboxRequest& request) {
  return Call(*messages_, &v1::MessageService::Stub::ListInbox, request);
}

absl::StatusOr<v1::MarkReadResponse> BrokerClient::MarkRead(
    const v1::MarkReadRequest& request) {
  return Call(*messages_, &v1::MessageService::Stub::MarkRead, request);
}

absl::StatusOr<v1::AwaitReplyResponse> BrokerClient::AwaitReply(
    const v1::AwaitReplyRequest& request, const Interrupt& interrupt) {
  const absl::Time deadline = SystemClock().Now() + deadline_;
  INTERCOM_RETURN_IF_ERROR(Connect(deadline));
  const int done = eventfd(0, EFD_CLOEXEC);
  grpc::ClientContext context;
  context.set_deadline(
      absl::ToChronoTime(deadline + FromProtoDuration(request.wait())));
  v1::AwaitReplyResponse response;
  grpc::Status status;
  asks_->async()->AwaitReply(&context, &request, &response,
                             [&status, done](grpc::Status result) {
                               status = std::move(result);
                               eventfd_write(done, 1);
                             });
  pollfd waiting[] = {{done, POLLIN, 0}, {interrupt.descriptor(), POLLIN, 0}};
  bool interrupted = false;
  while (poll(waiting, interrupted ? 1 : 2, -1) < 0 ||
         waiting[0].revents == 0) {
    if (!interrupted && waiting[1].revents != 0) {
      interrupted = true;
      context.TryCancel();
    }
  }
  eventfd_t ignored;
  eventfd_read(done, &ignored);
  close(done);
  if (status.ok()) return response;
  if (interrupted) {
    return Error(absl::StatusCode::kCancelled, "INTERRUPTED",
                 "the wait was ended");
  }
  return Failure(status, context);
}

absl::StatusOr<v1::ListSessionsResponse> BrokerClient::ListSessions(
    const v1::ListSessionsRequest& request) {
  return Call(*roster_, &v1::RosterService::Stub::ListSessions, request);
}

absl::StatusOr<v1::ListChannelsResponse> BrokerClient::ListChannels() {
  return Call(*channels_, &v1::ChannelService::Stub::ListChannels,
              v1::ListChannelsRequest());
}

absl::StatusOr<v1::ListAllRunsResponse> BrokerClient::ListAllRuns(
    const v1::ListAllRunsRequest& request) {
  return Call(*inspection_, &v1::InspectionService::Stub::ListAllRuns, request);
}

absl::StatusOr<v1::ListOpenAsksResponse> BrokerClient::ListOpenAsks(
    const v1::ListOpenAsksRequest& request) {
  return Call(*inspection_, &v1::InspectionService::Stub::ListOpenAsks,
              request);
}

absl::StatusOr<v1::ListDeliveriesResponse> BrokerClient::ListDeliveries(
    const v1::ListDeliveriesRequest& request) {
  return Call(*inspection_, &v1::InspectionService::Stub::ListDeliveries,
              request);
}

absl::StatusOr<v1::CheckConfigResponse> BrokerClient::CheckConfig(
    const v1::CheckConfigRequest& request) {
  return Call(*workspace_, &v1::WorkspaceService::Stub::CheckConfig, request);
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

absl::StatusOr<v1::ListWorkspacesResponse> BrokerClient::ListWorkspaces() {
  return Call(*inspection_, &v1::InspectionService::Stub::ListWorkspaces,
              v1::ListWorkspacesRequest());
}

absl::StatusOr<v1::GetMetricsResponse> BrokerClient::GetMetrics() {
  return Call(*inspection_, &v1::InspectionService::Stub::GetMetrics,
              v1::GetMetricsRequest());
}

absl::StatusOr<v1::CheckStoreResponse> BrokerClient::CheckStore() {
  return Call(*inspection_, &v1::InspectionService::Stub::CheckStore,
              v1::CheckStoreRequest());
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
