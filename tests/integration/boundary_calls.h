#ifndef PI_INTERCOM_TESTS_INTEGRATION_BOUNDARY_CALLS_H_
#define PI_INTERCOM_TESTS_INTEGRATION_BOUNDARY_CALLS_H_

#include <string>
#include <vector>

#include "intercom/v1/channel.grpc.pb.h"
#include "tests/support/broker_client.h"

namespace intercom {

// One call of the broker's services, made so that it changes nothing that a
// later one sees: it names what is not there.
struct BoundaryCall {
  // As grpcurl names it; a word behind it tells calls of one method apart.
  const char* method;
  // The operation that it is.
  const char* operation;
  CallEnd (*call)(BrokerClient& client, const std::string& directory);
};

// How a stream begins: it is ended after its first response.
template <typename Response, typename Method, typename Request>
CallEnd BeginStream(BrokerClient& client, Method method,
                    const Request& request) {
  grpc::ClientContext context;
  client.Prepare(context);
  const auto reader = (client.inspection.get()->*method)(&context, request);
  Response response;
  const bool begun = reader->Read(&response);
  context.TryCancel();
  const CallEnd end = CallEnd::Of(reader->Finish(), context);
  return begun ? CallEnd() : end;
}

// Every call but Attach.
inline const std::vector<BoundaryCall>& BoundaryCalls() {
  using Client = BrokerClient;
  using Text = std::string;
  static const auto&
      calls =
          *new std::vector<BoundaryCall>{
              {"MessageService.Send", "message.send",
               [](Client& client, const Text& directory) {
                 v1::Envelope envelope;
                 envelope.set_envelope_id("boundary-1");
                 envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
                 envelope.set_text("x");
                 return client.Send("nobody", envelope, directory, nullptr);
               }},
              {"MessageService.Send account", "peer.send",
               [](Client& client, const Text&) {
                 v1::Envelope envelope;
                 envelope.set_envelope_id("boundary-2");
                 envelope.set_kind(v1::ENVELOPE_KIND_MESSAGE);
                 envelope.set_text("x");
                 return client.SendAnywhere("nobody", envelope);
               }},
              {"RosterService.ListSessions", "peer.list",
               [](Client& client, const Text&) {
                 v1::ListSessionsResponse response;
                 return client.ListSessions({}, response);
               }},
              {"AskService.AwaitReply", "message.read",
               [](Client& client, const Text&) {
                 v1::AwaitReplyRequest request;
                 request.set_envelope_id("not-there");
                 v1::AwaitReplyResponse response;
                 return client.Call(*client.asks,
                                    &v1::AskService::Stub::AwaitReply, request,
                                    response);
               }},
              {"AskService.ListAsks", "message.read",
               [](Client& client, const Text&) {
                 v1::ListAsksResponse response;
                 return client.Call(*client.asks,
                                    &v1::AskService::Stub::ListAsks,
                                    v1::ListAsksRequest(), response);
               }},
              {"ChannelService.ListChannels", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListChannelsResponse response;
                 return client.Call(*client.channels,
                                    &v1::ChannelService::Stub::ListChannels,
                                    v1::ListChannelsRequest(), response);
               }},
              {"MonitorPaneService.ClaimMonitorPane", "monitor.pane",
               [](Client& client, const Text&) {
                 v1::ClaimMonitorPaneRequest request;
                 request.set_claim_id("boundary-claim");
                 request.mutable_caller()->set_pane("not-there");
                 v1::ClaimMonitorPaneResponse response;
                 return client.Call(
                     *client.monitors,
                     &v1::MonitorPaneService::Stub::ClaimMonitorPane, request,
                     response);
               }},
              {"MonitorPaneService.AdvanceMonitorPane", "monitor.pane",
               [](Client& client, const Text&) {
                 v1::AdvanceMonitorPaneRequest request;
                 request.set_claim_id("not-there");
                 v1::AdvanceMonitorPaneResponse response;
                 return client.Call(
                     *client.monitors,
                     &v1::MonitorPaneService::Stub::AdvanceMonitorPane, request,
                     response);
               }},
              {"MessageService.GetMessage", "message.read",
               [](Client& client, const Text&) {
                 v1::DeliveryRecord record;
                 return client.Get("not-there", record);
               }},
              {"MessageService.ListMessages", "message.read",
               [](Client& client, const Text& directory) {
                 v1::ListMessagesRequest request;
                 request.set_directory(directory);
                 v1::ListMessagesResponse response;
                 return client.Call(*client.messages,
                                    &v1::MessageService::Stub::ListMessages,
                                    request, response);
               }},
              {"MessageService.ListInbox", "inbox.read",
               [](Client& client, const Text&) {
                 v1::ListInboxResponse response;
                 return client.Call(*client.messages,
                                    &v1::MessageService::Stub::ListInbox,
                                    v1::ListInboxRequest(), response);
               }},
              {"MessageService.MarkRead", "inbox.read",
               [](Client& client, const Text&) {
                 v1::MarkReadRequest request;
                 request.add_delivery_ids("nobody/not-there");
                 v1::MarkReadResponse response;
                 return client.Call(*client.messages,
                                    &v1::MessageService::Stub::MarkRead,
                                    request, response);
               }},
              {"MessageService.WithdrawMessage", "message.withdraw",
               [](Client& client, const Text&) {
                 v1::WithdrawMessageRequest request;
                 request.set_envelope_id("not-there");
                 v1::WithdrawMessageResponse response;
                 return client.Call(*client.messages,
                                    &v1::MessageService::Stub::WithdrawMessage,
                                    request, response);
               }},
              {"WorkspaceService.GetWorkspace", "roster.list",
               [](Client& client, const Text& directory) {
                 v1::GetWorkspaceRequest request;
                 request.set_directory(directory);
                 v1::GetWorkspaceResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::GetWorkspace,
                                    request, response);
               }},
              {"WorkspaceService.GetWorkerStatus", "status.read",
               [](Client& client, const Text& directory) {
                 v1::GetWorkerStatusRequest request;
                 request.set_directory(directory);
                 v1::GetWorkerStatusResponse response;
                 return client.Call(
                     *client.workspaces,
                     &v1::WorkspaceService::Stub::GetWorkerStatus, request,
                     response);
               }},
              {"WorkspaceService.ConfigureWorker", "worker.configure",
               [](Client& client, const Text&) {
                 v1::ConfigureWorkerResponse response;
                 return client.Call(
                     *client.workspaces,
                     &v1::WorkspaceService::Stub::ConfigureWorker,
                     v1::ConfigureWorkerRequest(), response);
               }},
              {"WorkspaceService.ReloadWorker", "worker.reload",
               [](Client& client, const Text&) {
                 v1::ReloadWorkerRequest request;
                 request.set_to("nobody");
                 v1::ReloadWorkerResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::ReloadWorker,
                                    request, response);
               }},
              {"WorkspaceService.RequestStatus", "status.request",
               [](Client& client, const Text&) {
                 v1::RequestStatusRequest request;
                 request.set_to("nobody");
                 v1::RequestStatusResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::RequestStatus,
                                    request, response);
               }},
              {"WorkspaceService.ReportStatus", "status.report",
               [](Client& client, const Text&) {
                 v1::ReportStatusResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::ReportStatus,
                                    v1::ReportStatusRequest(), response);
               }},
              {"WorkspaceService.ReportWork", "work.report",
               [](Client& client, const Text&) {
                 v1::ReportWorkResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::ReportWork,
                                    v1::ReportWorkRequest(), response);
               }},
              {"WorkspaceService.RemoveWorker", "worker.remove",
               [](Client& client, const Text&) {
                 v1::RemoveWorkerRequest request;
                 request.set_to("nobody");
                 v1::RemoveWorkerResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::RemoveWorker,
                                    request, response);
               }},
              {"WorkspaceService.SetMultiplexer", "workspace.multiplexer",
               [](Client& client, const Text&) {
                 v1::SetMultiplexerRequest request;
                 request.set_multiplexer("not-there");
                 v1::SetMultiplexerResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::SetMultiplexer,
                                    request, response);
               }},
              {"WorkspaceService.Register", "registration.repeat",
               [](Client& client, const Text&) {
                 v1::RegisterResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::Register,
                                    v1::RegisterRequest(), response);
               }},
              {"WorkspaceService.ConfirmCoordinator", "workspace.coordinator",
               [](Client& client, const Text& directory) {
                 v1::ConfirmCoordinatorRequest request;
                 request.set_directory(directory);
                 request.set_coordinator_session_id("not-there");
                 v1::ConfirmCoordinatorResponse response;
                 return client.Call(
                     *client.workspaces,
                     &v1::WorkspaceService::Stub::ConfirmCoordinator, request,
                     response);
               }},
              {"WorkspaceService.CheckConfig", "inspect.read",
               [](Client& client, const Text& directory) {
                 v1::CheckConfigRequest request;
                 request.set_directory(directory);
                 v1::CheckConfigResponse response;
                 return client.Call(*client.workspaces,
                                    &v1::WorkspaceService::Stub::CheckConfig,
                                    request, response);
               }},
              {"WorkService.BeginLaunch", "worker.create",
               [](Client& client, const Text&) {
                 v1::BeginLaunchRequest request;
                 request.set_job_id("00000000-0000-4000-8000-0000000000b0");
                 request.set_launcher("none");
                 v1::BeginLaunchResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::BeginLaunch,
                                    request, response);
               }},
              {"WorkService.BeginLaunch resume", "worker.resume",
               [](Client& client, const Text&) {
                 v1::BeginLaunchRequest request;
                 request.set_job_id("00000000-0000-4000-8000-0000000000b1");
                 request.set_resume("nobody");
                 request.set_confirm_closed(true);
                 v1::BeginLaunchResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::BeginLaunch,
                                    request, response);
               }},
              {"WorkService.AdvanceLaunch", "worker.create",
               [](Client& client, const Text&) {
                 v1::AdvanceLaunchRequest request;
                 request.set_job_id("not-there");
                 request.set_step(v1::AdvanceLaunchRequest::STEP_LAUNCHED);
                 v1::AdvanceLaunchResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::AdvanceLaunch,
                                    request, response);
               }},
              {"WorkService.BeginLaunch open", "peer.open",
               [](Client& client, const Text&) {
                 v1::BeginLaunchRequest request;
                 request.set_job_id("boundary-open");
                 request.set_open_directory("/not-there");
                 v1::BeginLaunchResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::BeginLaunch,
                                    request, response);
               }},
              {"WorkService.AwaitLaunch", "peer.open",
               [](Client& client, const Text&) {
                 v1::AwaitLaunchRequest request;
                 request.set_job_id("not-there");
                 v1::AwaitLaunchResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::AwaitLaunch,
                                    request, response);
               }},
              {"WorkService.StopWorker", "worker.stop",
               [](Client& client, const Text&) {
                 v1::StopWorkerRequest request;
                 request.set_to("nobody");
                 v1::StopWorkerResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::StopWorker, request,
                                    response);
               }},
              {"WorkService.CloseWorker", "worker.close",
               [](Client& client, const Text&) {
                 v1::CloseWorkerRequest request;
                 request.set_to("nobody");
                 v1::CloseWorkerResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::CloseWorker,
                                    request, response);
               }},
              {"WorkService.ReportHandoff", "handoff.report",
               [](Client& client, const Text&) {
                 v1::ReportHandoffRequest request;
                 request.set_job_id("not-there");
                 request.set_summary("x");
                 v1::ReportHandoffResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::ReportHandoff,
                                    request, response);
               }},
              {"WorkService.ListJobs", "job.read",
               [](Client& client, const Text& directory) {
                 v1::ListJobsRequest request;
                 request.set_directory(directory);
                 v1::ListJobsResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::ListJobs, request,
                                    response);
               }},
              {"WorkService.GetJob", "job.read",
               [](Client& client, const Text&) {
                 v1::GetJobRequest request;
                 request.set_job_id("not-there");
                 v1::GetJobResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::GetJob, request,
                                    response);
               }},
              {"WorkService.ResolveJob", "job.resolve",
               [](Client& client, const Text&) {
                 v1::ResolveJobRequest request;
                 request.set_job_id("not-there");
                 v1::ResolveJobResponse response;
                 return client.Call(*client.work,
                                    &v1::WorkService::Stub::ResolveJob, request,
                                    response);
               }},
              {"RunService.ListRuns", "run.supervise",
               [](Client& client, const Text&) {
                 v1::ListRunsRequest request;
                 v1::ListRunsResponse response;
                 return client.Call(*client.runs,
                                    &v1::RunService::Stub::ListRuns, request,
                                    response);
               }},
              {"RunService.GetRun", "run.supervise",
               [](Client& client, const Text&) {
                 v1::GetRunRequest request;
                 request.set_run_id("run-999");
                 v1::GetRunResponse response;
                 return client.Call(*client.runs, &v1::RunService::Stub::GetRun,
                                    request, response);
               }},
              {"RunService.AwaitRuns", "run.supervise",
               [](Client& client, const Text&) {
                 v1::AwaitRunsRequest request;
                 v1::AwaitRunsResponse response;
                 return client.Call(*client.runs,
                                    &v1::RunService::Stub::AwaitRuns, request,
                                    response);
               }},
              {"RunService.StopRun", "run.supervise",
               [](Client& client, const Text&) {
                 v1::StopRunRequest request;
                 request.set_run_id("run-999");
                 v1::StopRunResponse response;
                 return client.Call(*client.runs,
                                    &v1::RunService::Stub::StopRun, request,
                                    response);
               }},
              {"RunService.AddNote", "run.work",
               [](Client& client, const Text&) {
                 v1::AddNoteRequest request;
                 request.set_note_id("boundary-note");
                 request.set_text("x");
                 v1::AddNoteResponse response;
                 return client.Call(*client.runs,
                                    &v1::RunService::Stub::AddNote, request,
                                    response);
               }},
              {"RunService.DrainInbox", "run.supervise",
               [](Client& client, const Text&) {
                 v1::DrainInboxRequest request;
                 request.set_drain_id("boundary-drain");
                 v1::DrainInboxResponse response;
                 return client.Call(*client.runs,
                                    &v1::RunService::Stub::DrainInbox, request,
                                    response);
               }},
              {"RunService.GetNote", "run.supervise",
               [](Client& client, const Text&) {
                 v1::GetNoteRequest request;
                 request.set_note_id("not-there");
                 v1::GetNoteResponse response;
                 return client.Call(*client.runs,
                                    &v1::RunService::Stub::GetNote, request,
                                    response);
               }},
              {"InspectionService.GetBroker", "inspect.read",
               [](Client& client, const Text&) {
                 v1::GetBrokerResponse response;
                 return client.GetBroker(response);
               }},
              {"InspectionService.ListAttachments", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListAttachmentsResponse response;
                 return client.Call(
                     *client.inspection,
                     &v1::InspectionService::Stub::ListAttachments,
                     v1::ListAttachmentsRequest(), response);
               }},
              {"InspectionService.ListWorkspaces", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListWorkspacesResponse response;
                 return client.Call(
                     *client.inspection,
                     &v1::InspectionService::Stub::ListWorkspaces,
                     v1::ListWorkspacesRequest(), response);
               }},
              {"InspectionService.ListMailboxes", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListMailboxesResponse response;
                 return client.Call(*client.inspection,
                                    &v1::InspectionService::Stub::ListMailboxes,
                                    v1::ListMailboxesRequest(), response);
               }},
              {"InspectionService.ListDeliveries", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListDeliveriesResponse response;
                 return client.Call(
                     *client.inspection,
                     &v1::InspectionService::Stub::ListDeliveries,
                     v1::ListDeliveriesRequest(), response);
               }},
              {"InspectionService.ListObservations", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListObservationsResponse response;
                 return client.Call(
                     *client.inspection,
                     &v1::InspectionService::Stub::ListObservations,
                     v1::ListObservationsRequest(), response);
               }},
              {"InspectionService.ListOpenAsks", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListOpenAsksRequest request;
                 v1::ListOpenAsksResponse response;
                 return client.Call(*client.inspection,
                                    &v1::InspectionService::Stub::ListOpenAsks,
                                    request, response);
               }},
              {"InspectionService.ListAllRuns", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListAllRunsRequest request;
                 v1::ListAllRunsResponse response;
                 return client.Call(*client.inspection,
                                    &v1::InspectionService::Stub::ListAllRuns,
                                    request, response);
               }},
              {"InspectionService.GetSession", "inspect.read",
               [](Client& client, const Text&) {
                 v1::GetSessionRequest request;
                 request.set_session_id("not-there");
                 v1::GetSessionResponse response;
                 return client.Call(*client.inspection,
                                    &v1::InspectionService::Stub::GetSession,
                                    request, response);
               }},
              {"InspectionService.GetMetrics", "inspect.read",
               [](Client& client, const Text&) {
                 v1::GetMetricsRequest request;
                 v1::GetMetricsResponse response;
                 return client.Call(*client.inspection,
                                    &v1::InspectionService::Stub::GetMetrics,
                                    request, response);
               }},
              {"InspectionService.CheckStore", "inspect.read",
               [](Client& client, const Text&) {
                 v1::CheckStoreRequest request;
                 v1::CheckStoreResponse response;
                 return client.Call(*client.inspection,
                                    &v1::InspectionService::Stub::CheckStore,
                                    request, response);
               }},
              {"InspectionService.WatchEvents", "inspect.read",
               [](Client& client, const Text&) {
                 return BeginStream<v1::WatchEventsResponse>(
                     client, &v1::InspectionService::Stub::WatchEvents,
                     v1::WatchEventsRequest());
               }},
              {"InspectionService.WatchOverview", "inspect.read",
               [](Client& client, const Text&) {
                 return BeginStream<v1::WatchOverviewResponse>(
                     client, &v1::InspectionService::Stub::WatchOverview,
                     v1::WatchOverviewRequest());
               }},
              {"ChannelService.ListChannels", "inspect.read",
               [](Client& client, const Text&) {
                 v1::ListChannelsResponse response;
                 return client.Call(
                     *v1::ChannelService::NewStub(client.channel),
                     &v1::ChannelService::Stub::ListChannels,
                     v1::ListChannelsRequest(), response);
               }}};
  return calls;
}

// "yes" if the caller may, "no" if it is refused for who it is, else what went
// wrong before that was decided.
inline std::string Verdict(const CallEnd& end) {
  if (end.code == grpc::StatusCode::PERMISSION_DENIED) return "no";
  if (end.code == grpc::StatusCode::UNAVAILABLE ||
      end.code == grpc::StatusCode::UNAUTHENTICATED ||
      end.code == grpc::StatusCode::UNIMPLEMENTED ||
      end.reason == "NO_WORKSPACE") {
    return end.reason + " " + end.message;
  }
  return "yes";
}

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_INTEGRATION_BOUNDARY_CALLS_H_
