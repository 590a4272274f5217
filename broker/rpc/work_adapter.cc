#include "broker/rpc/work_adapter.h"

#include <utility>

namespace intercom {

grpc::ServerUnaryReactor* WorkAdapter::BeginLaunch(
    grpc::CallbackServerContext* context, const v1::BeginLaunchRequest* request,
    v1::BeginLaunchResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.launches,
                 &LaunchDesk::Begin);
}

grpc::ServerUnaryReactor* WorkAdapter::AdvanceLaunch(
    grpc::CallbackServerContext* context,
    const v1::AdvanceLaunchRequest* request,
    v1::AdvanceLaunchResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.launches,
                 &LaunchDesk::Advance);
}

grpc::ServerUnaryReactor* WorkAdapter::AwaitLaunch(
    grpc::CallbackServerContext* context, const v1::AwaitLaunchRequest* request,
    v1::AwaitLaunchResponse* response) {
  return ServeBy(context_, context, request, response,
                 context_.core.launch_waits, &LaunchWaits::Await);
}

grpc::ServerUnaryReactor* WorkAdapter::StopWorker(
    grpc::CallbackServerContext* context, const v1::StopWorkerRequest* request,
    v1::StopWorkerResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.stops,
                 &StopDesk::Stop);
}

grpc::ServerUnaryReactor* WorkAdapter::CloseWorker(
    grpc::CallbackServerContext* context, const v1::CloseWorkerRequest* request,
    v1::CloseWorkerResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.closes,
                 &CloseDesk::Close);
}

grpc::ServerUnaryReactor* WorkAdapter::ReportHandoff(
    grpc::CallbackServerContext* context,
    const v1::ReportHandoffRequest* request,
    v1::ReportHandoffResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.closes,
                 &CloseDesk::ReportHandoff);
}

grpc::ServerUnaryReactor* WorkAdapter::ListJobs(
    grpc::CallbackServerContext* context, const v1::ListJobsRequest* request,
    v1::ListJobsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.jobs,
                 &JobDesk::List);
}

grpc::ServerUnaryReactor* WorkAdapter::GetJob(
    grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
    v1::GetJobResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.jobs,
                 &JobDesk::Get);
}

grpc::ServerUnaryReactor* WorkAdapter::ResolveJob(
    grpc::CallbackServerContext* context, const v1::ResolveJobRequest* request,
    v1::ResolveJobResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.jobs,
                 &JobDesk::Resolve);
}

}  // namespace intercom
