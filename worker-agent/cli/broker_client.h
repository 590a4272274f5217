#ifndef PI_INTERCOM_WORKER_AGENT_CLI_BROKER_CLIENT_H_
#define PI_INTERCOM_WORKER_AGENT_CLI_BROKER_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/channel.h"
#include "intercom/v1/ask.grpc.pb.h"
#include "intercom/v1/channel.grpc.pb.h"
#include "intercom/v1/inspect.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"
#include "intercom/v1/work.grpc.pb.h"
#include "intercom/v1/workspace.grpc.pb.h"
#include "worker-agent/cli/interrupt.h"

namespace intercom {

// Blocking calls to the broker on the Unix socket of a state directory, each at
// most `deadline`. Nothing was sent: UNAVAILABLE (BROKER_NOT_RUNNING),
// DEADLINE_EXCEEDED (BROKER_HUNG). It may have been: UNAVAILABLE
// (CONNECTION_LOST), DEADLINE_EXCEEDED (OUTCOME_UNKNOWN).
class BrokerClient {
 public:
  explicit BrokerClient(const std::string& home,
                        absl::Duration deadline = absl::Seconds(10));

  absl::StatusOr<v1::GetWorkspaceResponse> GetWorkspace(
      const v1::GetWorkspaceRequest& request);
  absl::StatusOr<v1::SendResponse> Send(const v1::SendRequest& request);
  absl::StatusOr<v1::GetMessageResponse> GetMessage(
      const v1::GetMessageRequest& request);
  absl::StatusOr<v1::ListMessagesResponse> ListMessages(
      const v1::ListMessagesRequest& request);
  absl::StatusOr<v1::WithdrawMessageResponse> WithdrawMessage(
      const v1::WithdrawMessageRequest& request);
  absl::StatusOr<v1::ListInboxResponse> ListInbox(
      const v1::ListInboxRequest& request);
  absl::StatusOr<v1::MarkReadResponse> MarkRead(
      const v1::MarkReadRequest& request);
  // Takes `deadline` longer than `wait` at most. CANCELLED (INTERRUPTED):
  // `interrupt` came before.
  absl::StatusOr<v1::AwaitReplyResponse> AwaitReply(
      const v1::AwaitReplyRequest& request, const Interrupt& interrupt);
  absl::StatusOr<v1::ListSessionsResponse> ListSessions(
      const v1::ListSessionsRequest& request);
  absl::StatusOr<v1::ListChannelsResponse> ListChannels();
  absl::StatusOr<v1::ListAllRunsResponse> ListAllRuns(
      const v1::ListAllRunsRequest& request);
  absl::StatusOr<v1::ListOpenAsksResponse> ListOpenAsks(
      const v1::ListOpenAsksRequest& request);
  absl::StatusOr<v1::ListDeliveriesResponse> ListDeliveries(
      const v1::ListDeliveriesRequest& request);
  absl::StatusOr<v1::CheckConfigResponse> CheckConfig(
      const v1::CheckConfigRequest& request);
  absl::StatusOr<v1::GetBrokerResponse> GetBroker();
  absl::StatusOr<v1::ListAttachmentsResponse> ListAttachments();
  absl::StatusOr<v1::ListMailboxesResponse> ListMailboxes();
  absl::StatusOr<v1::ListWorkspacesResponse> ListWorkspaces();
  absl::StatusOr<v1::GetMetricsResponse> GetMetrics();
  // Takes its usual time.
  absl::StatusOr<v1::CheckStoreResponse> CheckStore();
  absl::StatusOr<v1::GetWorkerStatusResponse> GetWorkerStatus(
      const v1::GetWorkerStatusRequest& request);
  absl::StatusOr<v1::ConfirmCoordinatorResponse> ConfirmCoordinator(
      const v1::ConfirmCoordinatorRequest& request);
  absl::StatusOr<v1::ListObservationsResponse> ListObservations(
      const v1::ListObservationsRequest& request);
  absl::StatusOr<v1::ListJobsResponse> ListJobs(
      const v1::ListJobsRequest& request);
  absl::StatusOr<v1::GetJobResponse> GetJob(const v1::GetJobRequest& request);
  absl::StatusOr<v1::ResolveJobResponse> ResolveJob(
      const v1::ResolveJobRequest& request);

 private:
  absl::Status Connect(absl::Time deadline);
  template <typename Response, typename Stub, typename Request>
  absl::StatusOr<Response> Call(
      Stub& stub,
      grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&,
                                   Response*),
      const Request& request);
  static absl::Status Failure(const grpc::Status& status,
                              const grpc::ClientContext& context);

  const std::string home_;
  const absl::Duration deadline_;
  const std::shared_ptr<grpc::Channel> channel_;
  const std::unique_ptr<v1::WorkspaceService::Stub> workspace_;
  const std::unique_ptr<v1::MessageService::Stub> messages_;
  const std::unique_ptr<v1::InspectionService::Stub> inspection_;
  const std::unique_ptr<v1::WorkService::Stub> work_;
  const std::unique_ptr<v1::AskService::Stub> asks_;
  const std::unique_ptr<v1::RosterService::Stub> roster_;
  const std::unique_ptr<v1::ChannelService::Stub> channels_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_WORKER_AGENT_CLI_BROKER_CLIENT_H_
