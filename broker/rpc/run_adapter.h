#ifndef PI_INTERCOM_BROKER_RPC_RUN_ADAPTER_H_
#define PI_INTERCOM_BROKER_RPC_RUN_ADAPTER_H_

#include "broker/rpc/serve.h"
#include "intercom/v1/run.grpc.pb.h"

namespace intercom {

// As the other adapters.
class RunAdapter final : public v1::RunService::CallbackService {
 public:
  explicit RunAdapter(AdapterContext context) : context_(context) {}

  grpc::ServerUnaryReactor* ListRuns(grpc::CallbackServerContext* context,
                                     const v1::ListRunsRequest* request,
                                     v1::ListRunsResponse* response) override;
  grpc::ServerUnaryReactor* GetRun(grpc::CallbackServerContext* context,
                                   const v1::GetRunRequest* request,
                                   v1::GetRunResponse* response) override;
  grpc::ServerUnaryReactor* AwaitRuns(grpc::CallbackServerContext* context,
                                      const v1::AwaitRunsRequest* request,
                                      v1::AwaitRunsResponse* response) override;
  grpc::ServerUnaryReactor* StopRun(grpc::CallbackServerContext* context,
                                    const v1::StopRunRequest* request,
                                    v1::StopRunResponse* response) override;
  grpc::ServerUnaryReactor* AddNote(grpc::CallbackServerContext* context,
                                    const v1::AddNoteRequest* request,
                                    v1::AddNoteResponse* response) override;
  grpc::ServerUnaryReactor* DrainInbox(
      grpc::CallbackServerContext* context,
      const v1::DrainInboxRequest* request,
      v1::DrainInboxResponse* response) override;
  grpc::ServerUnaryReactor* GetNote(grpc::CallbackServerContext* context,
                                    const v1::GetNoteRequest* request,
                                    v1::GetNoteResponse* response) override;

 private:
  const AdapterContext context_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_RPC_RUN_ADAPTER_H_
