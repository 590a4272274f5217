#ifndef PI_INTERCOM_TESTS_UNIT_LINK_FAKE_PEERS_H_
#define PI_INTERCOM_TESTS_UNIT_LINK_FAKE_PEERS_H_

#include "intercom/v1/ask.grpc.pb.h"
#include "intercom/v1/roster.grpc.pb.h"

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

}  // namespace intercom

#endif  // PI_INTERCOM_TESTS_UNIT_LINK_FAKE_PEERS_H_
