#ifndef PI_INTERCOM_BROKER_RPC_SERVICES_H_
#define PI_INTERCOM_BROKER_RPC_SERVICES_H_

#include "broker/rpc/attach_stream.h"
#include "broker/rpc/serve.h"
#include "intercom/v1/ask.grpc.pb.h"
#include "intercom/v1/channel.grpc.pb.h"
#include "intercom/v1/message.grpc.pb.h"
#include "intercom/v1/monitor.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"
#include "intercom/v1/session.grpc.pb.h"
#include "intercom/v1/workspace.grpc.pb.h"

namespace intercom {

// The adapters check who calls, hand the request to the core, and put its
// answer on the wire: nothing else. gRPC calls them from its threads.

class SessionAdapter final : public v1::SessionService::CallbackService {
 public:
  explicit SessionAdapter(AdapterContext context) : context_(context) {}

  AttachStream::Reactor* Attach(grpc::CallbackServerContext* context) override {
    return AttachStream::Start(*context, context_.core, context_.peers,
                               context_.executor);
  }

 private:
  const AdapterContext context_;
};

class MessageAdapter final : public v1::MessageService::CallbackService {
 public:
  explicit MessageAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* Send(grpc::CallbackServerContext* context,
                                 const v1::SendRequest* request,
                                 v1::SendResponse* response) override;
  grpc::ServerUnaryReactor* GetMessage(
      grpc::CallbackServerContext* context,
      const v1::GetMessageRequest* request,
      v1::GetMessageResponse* response) override;
  grpc::ServerUnaryReactor* ListMessages(
      grpc::CallbackServerContext* context,
      const v1::ListMessagesRequest* request,
      v1::ListMessagesResponse* response) override;
  grpc::ServerUnaryReactor* WithdrawMessage(
      grpc::CallbackServerContext* context,
      const v1::WithdrawMessageRequest* request,
      v1::WithdrawMessageResponse* response) override;
  grpc::ServerUnaryReactor* ListInbox(grpc::CallbackServerContext* context,
                                      const v1::ListInboxRequest* request,
                                      v1::ListInboxResponse* response) override;
  grpc::ServerUnaryReactor* MarkRead(grpc::CallbackServerContext* context,
                                     const v1::MarkReadRequest* request,
                                     v1::MarkReadResponse* response) override;

 private:
  const AdapterContext context_;
};

class WorkspaceAdapter final : public v1::WorkspaceService::CallbackService {
 public:
  explicit WorkspaceAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* GetWorkspace(
      grpc::CallbackServerContext* context,
      const v1::GetWorkspaceRequest* request,
      v1::GetWorkspaceResponse* response) override;
  grpc::ServerUnaryReactor* ConfigureWorker(
      grpc::CallbackServerContext* context,
      const v1::ConfigureWorkerRequest* request,
      v1::ConfigureWorkerResponse* response) override;
  grpc::ServerUnaryReactor* ReloadWorker(
      grpc::CallbackServerContext* context,
      const v1::ReloadWorkerRequest* request,
      v1::ReloadWorkerResponse* response) override;
  grpc::ServerUnaryReactor* RequestStatus(
      grpc::CallbackServerContext* context,
      const v1::RequestStatusRequest* request,
      v1::RequestStatusResponse* response) override;
  grpc::ServerUnaryReactor* ReportStatus(
      grpc::CallbackServerContext* context,
      const v1::ReportStatusRequest* request,
      v1::ReportStatusResponse* response) override;
  grpc::ServerUnaryReactor* ReportWork(
      grpc::CallbackServerContext* context,
      const v1::ReportWorkRequest* request,
      v1::ReportWorkResponse* response) override;
  grpc::ServerUnaryReactor* GetWorkerStatus(
      grpc::CallbackServerContext* context,
      const v1::GetWorkerStatusRequest* request,
      v1::GetWorkerStatusResponse* response) override;
  grpc::ServerUnaryReactor* RemoveWorker(
      grpc::CallbackServerContext* context,
      const v1::RemoveWorkerRequest* request,
      v1::RemoveWorkerResponse* response) override;
  grpc::ServerUnaryReactor* SetMultiplexer(
      grpc::CallbackServerContext* context,
      const v1::SetMultiplexerRequest* request,
      v1::SetMultiplexerResponse* response) override;
  grpc::ServerUnaryReactor* Register(grpc::CallbackServerContext* context,
                                     const v1::RegisterRequest* request,
                                     v1::RegisterResponse* response) override;
  grpc::ServerUnaryReactor* ConfirmCoordinator(
      grpc::CallbackServerContext* context,
      const v1::ConfirmCoordinatorRequest* request,
      v1::ConfirmCoordinatorResponse* response) override;
  grpc::ServerUnaryReactor* CheckConfig(
      grpc::CallbackServerContext* context,
      const v1::CheckConfigRequest* request,
      v1::CheckConfigResponse* response) override;

 private:
  const AdapterContext context_;
};

class RosterAdapter final : public v1::RosterService::CallbackService {
 public:
  explicit RosterAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* ListSessions(
      grpc::CallbackServerContext* context,
      const v1::ListSessionsRequest* request,
      v1::ListSessionsResponse* response) override;

 private:
  const AdapterContext context_;
};

class AskAdapter final : public v1::AskService::CallbackService {
 public:
  explicit AskAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* AwaitReply(
      grpc::CallbackServerContext* context,
      const v1::AwaitReplyRequest* request,
      v1::AwaitReplyResponse* response) override;
  grpc::ServerUnaryReactor* ListAsks(grpc::CallbackServerContext* context,
                                     const v1::ListAsksRequest* request,
                                     v1::ListAsksResponse* response) override;

 private:
  const AdapterContext context_;
};

class MonitorPaneAdapter final
    : public v1::MonitorPaneService::CallbackService {
 public:
  explicit MonitorPaneAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* ClaimMonitorPane(
      grpc::CallbackServerContext* context,
      const v1::ClaimMonitorPaneRequest* request,
      v1::ClaimMonitorPaneResponse* response) override;
  grpc::ServerUnaryReactor* AdvanceMonitorPane(
      grpc::CallbackServerContext* context,
      const v1::AdvanceMonitorPaneRequest* request,
      v1::AdvanceMonitorPaneResponse* response) override;

 private:
  const AdapterContext context_;
};

class ChannelAdapter final : public v1::ChannelService::CallbackService {
 public:
  explicit ChannelAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* ListChannels(
      grpc::CallbackServerContext* context,
      const v1::ListChannelsRequest* request,
      v1::ListChannelsResponse* response) override;

 private:
  const AdapterContext context_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_SERVICES_H_
