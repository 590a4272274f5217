#include "tests/unit/link/fake_peers.h"

#include "tests/unit/link/fake_broker.h"

namespace intercom {

grpc::ServerUnaryReactor* FakeAsks::AwaitReply(
    grpc::CallbackServerContext* context, const v1::AwaitReplyRequest* request,
    v1::AwaitReplyResponse* response) {
  return broker_.Serve(context, "AwaitReply " + request->envelope_id(),
                       *request, response);
}

grpc::ServerUnaryReactor* FakeAsks::ListAsks(
    grpc::CallbackServerContext* context, const v1::ListAsksRequest* request,
    v1::ListAsksResponse* response) {
  return broker_.Serve(context, "ListAsks", *request, response);
}

grpc::ServerUnaryReactor* FakeRoster::ListSessions(
    grpc::CallbackServerContext* context,
    const v1::ListSessionsRequest* request,
    v1::ListSessionsResponse* response) {
  return broker_.Serve(context, "ListSessions", *request, response);
}

grpc::ServerUnaryReactor* FakeRuns::ListRuns(
    grpc::CallbackServerContext* context, const v1::ListRunsRequest* request,
    v1::ListRunsResponse* response) {
  return broker_.Serve(context, "ListRuns", *request, response);
}

grpc::ServerUnaryReactor* FakeRuns::GetRun(grpc::CallbackServerContext* context,
                                           const v1::GetRunRequest* request,
                                           v1::GetRunResponse* response) {
  return broker_.Serve(context, "GetRun", *request, response);
}

grpc::ServerUnaryReactor* FakeRuns::AwaitRuns(
    grpc::CallbackServerContext* context, const v1::AwaitRunsRequest* request,
    v1::AwaitRunsResponse* response) {
  return broker_.Serve(context, "AwaitRuns", *request, response);
}

grpc::ServerUnaryReactor* FakeRuns::StopRun(
    grpc::CallbackServerContext* context, const v1::StopRunRequest* request,
    v1::StopRunResponse* response) {
  return broker_.Serve(context, "StopRun", *request, response);
}

grpc::ServerUnaryReactor* FakeRuns::AddNote(
    grpc::CallbackServerContext* context, const v1::AddNoteRequest* request,
    v1::AddNoteResponse* response) {
  return broker_.Serve(context, "AddNote", *request, response);
}

grpc::ServerUnaryReactor* FakeRuns::DrainInbox(
    grpc::CallbackServerContext* context, const v1::DrainInboxRequest* request,
    v1::DrainInboxResponse* response) {
  return broker_.Serve(context, "DrainInbox " + request->drain_id(), *request,
                       response);
}

grpc::ServerUnaryReactor* FakeRuns::GetNote(
    grpc::CallbackServerContext* context, const v1::GetNoteRequest* request,
    v1::GetNoteResponse* response) {
  return broker_.Serve(context, "GetNote", *request, response);
}

}  // namespace intercom
