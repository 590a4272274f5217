#include "tests/unit/link/fake_work.h"

#include "tests/unit/link/fake_broker.h"

namespace intercom {

grpc::ServerUnaryReactor* FakeWork::BeginLaunch(
    grpc::CallbackServerContext* context, const v1::BeginLaunchRequest* request,
    v1::BeginLaunchResponse* response) {
  return broker_.Serve(context, "BeginLaunch", *request, response);
}

grpc::ServerUnaryReactor* FakeWork::AdvanceLaunch(
    grpc::CallbackServerContext* context,
    const v1::AdvanceLaunchRequest* request,
    v1::AdvanceLaunchResponse* response) {
  return broker_.Serve(context, "AdvanceLaunch", *request, response);
}

grpc::ServerUnaryReactor* FakeWork::StopWorker(
    grpc::CallbackServerContext* context, const v1::StopWorkerRequest* request,
    v1::StopWorkerResponse* response) {
  return broker_.Serve(context, "StopWorker", *request, response);
}

grpc::ServerUnaryReactor* FakeWork::CloseWorker(
    grpc::CallbackServerContext* context, const v1::CloseWorkerRequest* request,
    v1::CloseWorkerResponse* response) {
  return broker_.Serve(context, "CloseWorker", *request, response);
}

grpc::ServerUnaryReactor* FakeWork::ReportHandoff(
    grpc::CallbackServerContext* context,
    const v1::ReportHandoffRequest* request,
    v1::ReportHandoffResponse* response) {
  return broker_.Serve(context, "ReportHandoff", *request, response);
}

grpc::ServerUnaryReactor* FakeMonitorPanes::ClaimMonitorPane(
    grpc::CallbackServerContext* context,
    const v1::ClaimMonitorPaneRequest* request,
    v1::ClaimMonitorPaneResponse* response) {
  return broker_.Serve(context, "ClaimMonitorPane", *request, response);
}

grpc::ServerUnaryReactor* FakeMonitorPanes::AdvanceMonitorPane(
    grpc::CallbackServerContext* context,
    const v1::AdvanceMonitorPaneRequest* request,
    v1::AdvanceMonitorPaneResponse* response) {
  return broker_.Serve(context, "AdvanceMonitorPane", *request, response);
}

}  // namespace intercom
