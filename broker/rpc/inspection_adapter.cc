#include "broker/rpc/inspection_adapter.h"

#include <utility>

#include "broker/rpc/watch_stream.h"

namespace intercom {

grpc::ServerUnaryReactor* InspectionAdapter::GetBroker(
    grpc::CallbackServerContext* context, const v1::GetBrokerRequest*,
    v1::GetBrokerResponse* response) {
  return ServeWhole(context_, context, response,
                    [core = context_.core](CallerEvidence evidence, auto done) {
                      core.inspection.GetBroker(std::move(evidence),
                                                std::move(done));
                    });
}

grpc::ServerUnaryReactor* InspectionAdapter::ListAttachments(
    grpc::CallbackServerContext* context, const v1::ListAttachmentsRequest*,
    v1::ListAttachmentsResponse* response) {
  return ServeWhole(context_, context, response,
                    [core = context_.core](CallerEvidence evidence, auto done) {
                      core.inspection.ListAttachments(std::move(evidence),
                                                      std::move(done));
                    });
}

grpc::ServerUnaryReactor* InspectionAdapter::ListWorkspaces(
    grpc::CallbackServerContext* context, const v1::ListWorkspacesRequest*,
    v1::ListWorkspacesResponse* response) {
  return ServeWhole(context_, context, response,
                    [core = context_.core](CallerEvidence evidence, auto done) {
                      core.inspection.ListWorkspaces(std::move(evidence),
                                                     std::move(done));
                    });
}

grpc::ServerUnaryReactor* InspectionAdapter::ListMailboxes(
    grpc::CallbackServerContext* context, const v1::ListMailboxesRequest*,
    v1::ListMailboxesResponse* response) {
  return ServeWhole(context_, context, response,
                    [core = context_.core](CallerEvidence evidence, auto done) {
                      core.inspection.ListMailboxes(std::move(evidence),
                                                    std::move(done));
                    });
}

grpc::ServerUnaryReactor* InspectionAdapter::ListObservations(
    grpc::CallbackServerContext* context,
    const v1::ListObservationsRequest* request,
    v1::ListObservationsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.inspection,
                 &Inspection::ListObservations);
}

grpc::ServerUnaryReactor* InspectionAdapter::ListDeliveries(
    grpc::CallbackServerContext* context,
    const v1::ListDeliveriesRequest* request,
    v1::ListDeliveriesResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.mail,
                 &Mail::ListDeliveries);
}

grpc::ServerUnaryReactor* InspectionAdapter::ListOpenAsks(
    grpc::CallbackServerContext* context,
    const v1::ListOpenAsksRequest* request,
    v1::ListOpenAsksResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.looks,
                 &InspectionDesk::ListOpenAsks);
}

grpc::ServerUnaryReactor* InspectionAdapter::ListAllRuns(
    grpc::CallbackServerContext* context, const v1::ListAllRunsRequest* request,
    v1::ListAllRunsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.looks,
                 &InspectionDesk::ListAllRuns);
}

grpc::ServerUnaryReactor* InspectionAdapter::GetSession(
    grpc::CallbackServerContext* context, const v1::GetSessionRequest* request,
    v1::GetSessionResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.looks,
                 &InspectionDesk::GetSession);
}

grpc::ServerUnaryReactor* InspectionAdapter::GetMetrics(
    grpc::CallbackServerContext* context, const v1::GetMetricsRequest* request,
    v1::GetMetricsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.looks,
                 &InspectionDesk::GetMetrics);
}

grpc::ServerUnaryReactor* InspectionAdapter::CheckStore(
    grpc::CallbackServerContext* context, const v1::CheckStoreRequest* request,
    v1::CheckStoreResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.looks,
                 &InspectionDesk::CheckStore);
}

grpc::ServerWriteReactor<v1::WatchEventsResponse>*
InspectionAdapter::WatchEvents(grpc::CallbackServerContext* context,
                               const v1::WatchEventsRequest* request) {
  return WatchStream<v1::WatchEventsResponse>::Start(
      context_, *context,
      [&desk = context_.core.watches, request](CallerEvidence evidence,
                                               WatchWake wake, auto begun) {
        desk.WatchEvents(std::move(evidence), *request, std::move(wake),
                         std::move(begun));
      });
}

grpc::ServerWriteReactor<v1::WatchOverviewResponse>*
InspectionAdapter::WatchOverview(grpc::CallbackServerContext* context,
                                 const v1::WatchOverviewRequest* request) {
  return WatchStream<v1::WatchOverviewResponse>::Start(
      context_, *context,
      [&desk = context_.core.watches, request](CallerEvidence evidence,
                                               WatchWake wake, auto begun) {
        desk.WatchOverview(std::move(evidence), *request, std::move(wake),
                           std::move(begun));
      });
}

}  // namespace intercom
