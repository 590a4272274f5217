#ifndef PI_INTERCOM_BROKER_RPC_INSPECTION_ADAPTER_H_
#define PI_INTERCOM_BROKER_RPC_INSPECTION_ADAPTER_H_

#include "broker/rpc/serve.h"
#include "intercom/v1/inspect.grpc.pb.h"

namespace intercom {

// Puts InspectionService on the wire, as the adapters of services.h do theirs.
class InspectionAdapter final : public v1::InspectionService::CallbackService {
 public:
  explicit InspectionAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* GetBroker(grpc::CallbackServerContext* context,
                                      const v1::GetBrokerRequest* request,
                                      v1::GetBrokerResponse* response) override;
  grpc::ServerUnaryReactor* ListAttachments(
      grpc::CallbackServerContext* context,
      const v1::ListAttachmentsRequest* request,
      v1::ListAttachmentsResponse* response) override;
  grpc::ServerUnaryReactor* ListWorkspaces(
      grpc::CallbackServerContext* context,
      const v1::ListWorkspacesRequest* request,
      v1::ListWorkspacesResponse* response) override;
  grpc::ServerUnaryReactor* ListMailboxes(
      grpc::CallbackServerContext* context,
      const v1::ListMailboxesRequest* request,
      v1::ListMailboxesResponse* response) override;
  grpc::ServerUnaryReactor* ListObservations(
      grpc::CallbackServerContext* context,
      const v1::ListObservationsRequest* request,
      v1::ListObservationsResponse* response) override;
  grpc::ServerUnaryReactor* ListDeliveries(
      grpc::CallbackServerContext* context,
      const v1::ListDeliveriesRequest* request,
      v1::ListDeliveriesResponse* response) override;
  grpc::ServerUnaryReactor* ListOpenAsks(
      grpc::CallbackServerContext* context,
      const v1::ListOpenAsksRequest* request,
      v1::ListOpenAsksResponse* response) override;
  grpc::ServerUnaryReactor* ListAllRuns(
      grpc::CallbackServerContext* context,
      const v1::ListAllRunsRequest* request,
      v1::ListAllRunsResponse* response) override;
  grpc::ServerUnaryReactor* GetSession(
      grpc::CallbackServerContext* context,
      const v1::GetSessionRequest* request,
      v1::GetSessionResponse* response) override;
  grpc::ServerUnaryReactor* GetMetrics(
      grpc::CallbackServerContext* context,
      const v1::GetMetricsRequest* request,
      v1::GetMetricsResponse* response) override;
  grpc::ServerUnaryReactor* CheckStore(
      grpc::CallbackServerContext* context,
      const v1::CheckStoreRequest* request,
      v1::CheckStoreResponse* response) override;
  grpc::ServerWriteReactor<v1::WatchEventsResponse>* WatchEvents(
      grpc::CallbackServerContext* context,
      const v1::WatchEventsRequest* request) override;
  grpc::ServerWriteReactor<v1::WatchOverviewResponse>* WatchOverview(
      grpc::CallbackServerContext* context,
      const v1::WatchOverviewRequest* request) override;

 private:
  const AdapterContext context_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_INSPECTION_ADAPTER_H_
