#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_PEERS_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_PEERS_H_

#include "intercom/v1/ask.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"
#include "intercom/v1/run.grpc.pb.h"

namespace intercom {

class FakeBroker;

// The fake broker's AskService: answers what the test said. Waits for replies
// are told apart by their ask: "AwaitReply <envelope id>".
class FakeAsks : public v1::AskService::CallbackService {
 public:
  explicit FakeAsks(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* AwaitReply(
      grpc::CallbackServerContext* context,
      const v1::AwaitReplyRequest* request,
      v1::AwaitReplyResponse* response) override;
  grpc::ServerUnaryReactor* ListAsks(grpc::CallbackServerContext* context,
                                     const v1::ListAsksRequest* request,
                                     v1::ListAsksResponse* response) override;

 private:
  FakeBroker& broker_;
};

// The same of its RosterService.
class FakeRoster : public v1::RosterService::CallbackService {
 public:
  explicit FakeRoster(FakeBroker& broker) : broker_(broker) {}

  grpc::ServerUnaryReactor* ListSessions(
      grpc::CallbackServerContext* context,
      const v1::ListSessionsRequest* request,
      v1::ListSessionsResponse* response) override;

 private:
  FakeBroker& broker_;
};

// The same of its RunService.
class FakeRuns : public v1::RunService::CallbackService {
 public:
  explicit FakeRuns(FakeBroker& broker) : broker_(broker) {}

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
  // Told apart by their drain: "DrainInbox <drain id>".
  grpc::ServerUnaryReactor* DrainInbox(
      grpc::CallbackServerContext* context,
      const v1::DrainInboxRequest* request,
      v1::DrainInboxResponse* response) override;
  grpc::ServerUnaryReactor* GetNote(grpc::CallbackServerContext* context,
                                    const v1::GetNoteRequest* request,
                                    v1::GetNoteResponse* response) override;

 private:
  FakeBroker& broker_;
};

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_PEERS_H_
