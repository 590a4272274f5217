#include "broker/rpc/services.h"

#include <utility>

#include "broker/rpc/await_call.h"
#include "broker/rpc/serve.h"

namespace intercom {
namespace {

// A call whose answer is a delivery record.
template <typename Response, typename Call>
grpc::ServerUnaryReactor* ServeRecord(const AdapterContext& adapter,
                                      grpc::CallbackServerContext* context,
                                      Response* response, Call call) {
  return Serve<v1::DeliveryRecord>(
      adapter, context, std::move(call), [response](v1::DeliveryRecord record) {
        *response->mutable_record() = std::move(record);
      });
}

}  // namespace

grpc::ServerUnaryReactor* MessageAdapter::Send(
    grpc::CallbackServerContext* context, const v1::SendRequest* request,
    v1::SendResponse* response) {
  return ServeRecord(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.mail.Send(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* MessageAdapter::GetMessage(
    grpc::CallbackServerContext* context, const v1::GetMessageRequest* request,
    v1::GetMessageResponse* response) {
  return ServeRecord(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.mail.Get(std::move(evidence), request->id(), std::move(done));
      });
}

grpc::ServerUnaryReactor* MessageAdapter::ListMessages(
    grpc::CallbackServerContext* context,
    const v1::ListMessagesRequest* request,
    v1::ListMessagesResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.mail,
                 &Mail::List);
}

grpc::ServerUnaryReactor* MessageAdapter::WithdrawMessage(
    grpc::CallbackServerContext* context,
    const v1::WithdrawMessageRequest* request,
    v1::WithdrawMessageResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.mail,
                 &Mail::Withdraw);
}

grpc::ServerUnaryReactor* MessageAdapter::ListInbox(
    grpc::CallbackServerContext* context, const v1::ListInboxRequest* request,
    v1::ListInboxResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.inbox,
                 &PersonInbox::List);
}

grpc::ServerUnaryReactor* MessageAdapter::MarkRead(
    grpc::CallbackServerContext* context, const v1::MarkReadRequest* request,
    v1::MarkReadResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.inbox,
                 &PersonInbox::MarkRead);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::GetWorkspace(
    grpc::CallbackServerContext* context,
    const v1::GetWorkspaceRequest* request,
    v1::GetWorkspaceResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.workers,
                 &WorkerDesk::GetWorkspace);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::ConfigureWorker(
    grpc::CallbackServerContext* context,
    const v1::ConfigureWorkerRequest* request,
    v1::ConfigureWorkerResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.workers,
                 &WorkerDesk::Configure);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::ReloadWorker(
    grpc::CallbackServerContext* context,
    const v1::ReloadWorkerRequest* request,
    v1::ReloadWorkerResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.workers,
                 &WorkerDesk::Reload);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::RequestStatus(
    grpc::CallbackServerContext* context,
    const v1::RequestStatusRequest* request,
    v1::RequestStatusResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.workers,
                 &WorkerDesk::RequestStatus);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::ReportStatus(
    grpc::CallbackServerContext* context,
    const v1::ReportStatusRequest* request,
    v1::ReportStatusResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.workers,
                 &WorkerDesk::ReportStatus);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::ReportWork(
    grpc::CallbackServerContext* context, const v1::ReportWorkRequest* request,
    v1::ReportWorkResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.reports,
                 &ReportDesk::ReportWork);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::GetWorkerStatus(
    grpc::CallbackServerContext* context,
    const v1::GetWorkerStatusRequest* request,
    v1::GetWorkerStatusResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.status,
                 &StatusDesk::GetWorkerStatus);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::RemoveWorker(
    grpc::CallbackServerContext* context,
    const v1::RemoveWorkerRequest* request,
    v1::RemoveWorkerResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.config,
                 &ConfigDesk::Remove);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::SetMultiplexer(
    grpc::CallbackServerContext* context,
    const v1::SetMultiplexerRequest* request,
    v1::SetMultiplexerResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.config,
                 &ConfigDesk::SetMultiplexer);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::Register(
    grpc::CallbackServerContext* context, const v1::RegisterRequest* request,
    v1::RegisterResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.reports,
                 &ReportDesk::Register);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::ConfirmCoordinator(
    grpc::CallbackServerContext* context,
    const v1::ConfirmCoordinatorRequest* request,
    v1::ConfirmCoordinatorResponse* response) {
  return ServeBy(context_, context, request, response,
                 context_.core.coordinator, &CoordinatorDesk::Confirm);
}

grpc::ServerUnaryReactor* WorkspaceAdapter::CheckConfig(
    grpc::CallbackServerContext* context, const v1::CheckConfigRequest* request,
    v1::CheckConfigResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.config,
                 &ConfigDesk::Check);
}

grpc::ServerUnaryReactor* RosterAdapter::ListSessions(
    grpc::CallbackServerContext* context,
    const v1::ListSessionsRequest* request,
    v1::ListSessionsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.peers,
                 &PeerDirectory::ListSessions);
}

grpc::ServerUnaryReactor* AskAdapter::AwaitReply(
    grpc::CallbackServerContext* context, const v1::AwaitReplyRequest* request,
    v1::AwaitReplyResponse* response) {
  return AwaitCall::Serve(context_, context, *request, *response,
                          context_.core.asks, &AskDesk::AwaitReply);
}

grpc::ServerUnaryReactor* AskAdapter::ListAsks(
    grpc::CallbackServerContext* context, const v1::ListAsksRequest* request,
    v1::ListAsksResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.asks,
                 &AskDesk::ListAsks);
}

grpc::ServerUnaryReactor* MonitorPaneAdapter::ClaimMonitorPane(
    grpc::CallbackServerContext* context,
    const v1::ClaimMonitorPaneRequest* request,
    v1::ClaimMonitorPaneResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.monitors,
                 &MonitorDesk::Claim);
}

grpc::ServerUnaryReactor* MonitorPaneAdapter::AdvanceMonitorPane(
    grpc::CallbackServerContext* context,
    const v1::AdvanceMonitorPaneRequest* request,
    v1::AdvanceMonitorPaneResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.monitors,
                 &MonitorDesk::Advance);
}

grpc::ServerUnaryReactor* ChannelAdapter::ListChannels(
    grpc::CallbackServerContext* context,
    const v1::ListChannelsRequest* request,
    v1::ListChannelsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.channels,
                 &ChannelDesk::ListChannels);
}

}  // namespace intercom
