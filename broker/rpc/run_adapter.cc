#include "broker/rpc/run_adapter.h"

#include "broker/rpc/await_call.h"

namespace intercom {

grpc::ServerUnaryReactor* RunAdapter::ListRuns(
    grpc::CallbackServerContext* context, const v1::ListRunsRequest* request,
    v1::ListRunsResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.runs,
                 &RunDesk::ListRuns);
}

grpc::ServerUnaryReactor* RunAdapter::GetRun(
    grpc::CallbackServerContext* context, const v1::GetRunRequest* request,
    v1::GetRunResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.runs,
                 &RunDesk::GetRun);
}

grpc::ServerUnaryReactor* RunAdapter::AwaitRuns(
    grpc::CallbackServerContext* context, const v1::AwaitRunsRequest* request,
    v1::AwaitRunsResponse* response) {
  return AwaitCall::Serve(context_, context, *request, *response,
                          context_.core.run_waits, &RunWaits::AwaitRuns);
}

grpc::ServerUnaryReactor* RunAdapter::StopRun(
    grpc::CallbackServerContext* context, const v1::StopRunRequest* request,
    v1::StopRunResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.run_stops,
                 &RunStops::StopRun);
}

grpc::ServerUnaryReactor* RunAdapter::AddNote(
    grpc::CallbackServerContext* context, const v1::AddNoteRequest* request,
    v1::AddNoteResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.run_notes,
                 &RunNotes::AddNote);
}

grpc::ServerUnaryReactor* RunAdapter::DrainInbox(
    grpc::CallbackServerContext* context, const v1::DrainInboxRequest* request,
    v1::DrainInboxResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.run_notes,
                 &RunNotes::DrainInbox);
}

grpc::ServerUnaryReactor* RunAdapter::GetNote(
    grpc::CallbackServerContext* context, const v1::GetNoteRequest* request,
    v1::GetNoteResponse* response) {
  return ServeBy(context_, context, request, response, context_.core.run_notes,
                 &RunNotes::GetNote);
}

}  // namespace intercom
