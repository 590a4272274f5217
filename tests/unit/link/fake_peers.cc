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

}  // namespace intercom
