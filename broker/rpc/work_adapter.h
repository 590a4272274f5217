#ifndef PI_INTERCOM_BROKER_RPC_WORK_ADAPTER_H_
#define PI_INTERCOM_BROKER_RPC_WORK_ADAPTER_H_

#include "broker/rpc/serve.h"
#include "intercom/v1/work.grpc.pb.h"

namespace intercom {

// WorkService on the wire; nothing else, as all adapters.
class WorkAdapter final : public v1::WorkService::CallbackService {
 public:
  explicit WorkAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* BeginLaunch(
      grpc::CallbackServerContext* context,
      const v1::BeginLaunchRequest* request,
      v1::BeginLaunchResponse* response) override;
  grpc::ServerUnaryReactor* AdvanceLaunch(
      grpc::CallbackServerContext* context,
      const v1::AdvanceLaunchRequest* request,
      v1::AdvanceLaunchResponse* response) override;
  grpc::ServerUnaryReactor* AwaitLaunch(
      grpc::CallbackServerContext* context,
      const v1::AwaitLaunchRequest* request,
      v1::AwaitLaunchResponse* response) override;
  grpc::ServerUnaryReactor* StopWorker(
      grpc::CallbackServerContext* context,
      const v1::StopWorkerRequest* request,
      v1::StopWorkerResponse* response) override;
  grpc::ServerUnaryReactor* CloseWorker(
      grpc::CallbackServerContext* context,
      const v1::CloseWorkerRequest* request,
      v1::CloseWorkerResponse* response) override;
  grpc::ServerUnaryReactor* ReportHandoff(
      grpc::CallbackServerContext* context,
      const v1::ReportHandoffRequest* request,
      v1::ReportHandoffResponse* response) override;
  grpc::ServerUnaryReactor* ListJobs(grpc::CallbackServerContext* context,
                                     const v1::ListJobsRequest* request,
                                     v1::ListJobsResponse* response) override;
  grpc::ServerUnaryReactor* GetJob(grpc::CallbackServerContext* context,
                                   const v1::GetJobRequest* request,
                                   v1::GetJobResponse* response) override;
  grpc::ServerUnaryReactor* ResolveJob(
      grpc::CallbackServerContext* context,
      const v1::ResolveJobRequest* request,
      v1::ResolveJobResponse* response) override;

 private:
  const AdapterContext context_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_WORK_ADAPTER_H_
