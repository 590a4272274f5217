#include "broker/rpc/work_adapter.h"

#include <utility>

namespace intercom {

grpc::ServerUnaryReactor* WorkAdapter::BeginLaunch(
    grpc::CallbackServerContext* context, const v1::BeginLaunchRequest* request,
    v1::BeginLaunchResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.launches.Begin(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::AdvanceLaunch(
    grpc::CallbackServerContext* context,
    const v1::AdvanceLaunchRequest* request,
    v1::AdvanceLaunchResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.launches.Advance(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::StopWorker(
    grpc::CallbackServerContext* context, const v1::StopWorkerRequest* request,
    v1::StopWorkerResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.stops.Stop(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::CloseWorker(
    grpc::CallbackServerContext* context, const v1::CloseWorkerRequest* request,
    v1::CloseWorkerResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.closes.Close(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::ReportHandoff(
    grpc::CallbackServerContext* context,
    const v1::ReportHandoffRequest* request,
    v1::ReportHandoffResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.closes.ReportHandoff(std::move(evidence), *request,
                                  std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::ListJobs(
    grpc::CallbackServerContext* context, const v1::ListJobsRequest* request,
    v1::ListJobsResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.jobs.List(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::GetJob(
    grpc::CallbackServerContext* context, const v1::GetJobRequest* request,
    v1::GetJobResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.jobs.Get(std::move(evidence), *request, std::move(done));
      });
}

grpc::ServerUnaryReactor* WorkAdapter::ResolveJob(
    grpc::CallbackServerContext* context, const v1::ResolveJobRequest* request,
    v1::ResolveJobResponse* response) {
  return ServeWhole(
      context_, context, response,
      [core = context_.core, request](CallerEvidence evidence, auto done) {
        core.jobs.Resolve(std::move(evidence), *request, std::move(done));
      });
}

}  // namespace intercom
