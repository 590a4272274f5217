// Who the broker takes a caller for, over real connections and processes.

#include <string>

#include "tests/integration/broker_fixture.h"
#include "tests/integration/child_program.h"

namespace intercom {
namespace {

class CallersOverTheWireTest : public BrokerFixture {
 protected:
  CallersOverTheWireTest() { StartBroker(); }

  // Attached over the Unix socket, where the kernel confirms that this process
  // is its host.
  std::unique_ptr<AttachClient> AttachHostedHere(const std::string& id) {
    auto client = std::make_unique<AttachClient>(Unix());
    EXPECT_TRUE(client->SayHello(HelloOf(id, getpid())));
    client->StartReading();
    client->frames.WaitFor(Frame::kWelcome);
    return client;
  }
  std::string SendAsProgram(const std::string& envelope_id,
                            std::vector<std::string> environment = {}) {
    return ChildProgram({"--send", home_, "Builder", root_, envelope_id},
                        std::move(environment))
        .ReadLine();
  }
  const std::string uid_ = std::to_string(getuid());
};

TEST_F(CallersOverTheWireTest, TcpTakesTheTokenOfTheAccount) {
  v1::GetBrokerResponse response;
  EXPECT_THAT(
      BrokerClient::OverTcp(broker_->port(), "")->GetBroker(response),
      EndsWithReason(grpc::StatusCode::UNAUTHENTICATED, "TOKEN_MISSING"));
  for (const std::string& wrong :
       {std::string("guess"), Token() + "0", Token().substr(1)}) {
    EXPECT_THAT(
        BrokerClient::OverTcp(broker_->port(), wrong)->GetBroker(response),
        EndsWithReason(grpc::StatusCode::UNAUTHENTICATED, "TOKEN_WRONG"));
  }
  EXPECT_TRUE(Tcp()->GetBroker(response).ok());
  EXPECT_EQ(response.port(), broker_->port());
  EXPECT_EQ(response.home(), home_);
}

TEST_F(CallersOverTheWireTest, AttachOverTcpTakesTheTokenToo) {
  AttachClient client(BrokerClient::OverTcp(broker_->port(), ""));
  client.SayHello(HelloOf("w-1"));
  EXPECT_THAT(client.End(), EndsWithReason(grpc::StatusCode::UNAUTHENTICATED,
                                           "TOKEN_MISSING"));
}

TEST_F(CallersOverTheWireTest, ThePersonsSocketNeedsNoToken) {
  v1::GetBrokerResponse response;
  EXPECT_TRUE(Unix()->GetBroker(response).ok());
}

TEST_F(CallersOverTheWireTest, APersonIsToldFromAClient) {
  v1::DeliveryRecord record;
  EXPECT_TRUE(Unix()->Send("Builder", Message("e1"), root_, &record).ok());
  EXPECT_EQ(record.sender().origin(), v1::ORIGIN_PERSON);
  EXPECT_EQ(record.sender().session_id(), "person:" + uid_);
  EXPECT_TRUE(Tcp()->Send("Builder", Message("e1"), root_, &record).ok());
  EXPECT_EQ(record.sender().origin(), v1::ORIGIN_CLIENT);
  EXPECT_EQ(record.sender().session_id(), "client:" + uid_);
}

TEST_F(CallersOverTheWireTest, AProgramBelowAHostIsThatSessionsShell) {
  const auto session = AttachHostedHere("w-1");
  EXPECT_EQ(SendAsProgram("e1"), "ORIGIN_SHELL w-1");
  // So is the host itself without its token.
  v1::DeliveryRecord record;
  EXPECT_TRUE(Unix()->Send("Builder", Message("e2"), "", &record).ok());
  EXPECT_EQ(record.sender().origin(), v1::ORIGIN_SHELL);
}

TEST_F(CallersOverTheWireTest, AProgramThatCarriesASessionIsItsShell) {
  EXPECT_EQ(SendAsProgram("e1", {"PI_INTERCOM_SESSION=w-1"}),
            "ORIGIN_SHELL w-1");
  EXPECT_EQ(SendAsProgram("e2"), "ORIGIN_PERSON person:" + uid_);
}

TEST_F(CallersOverTheWireTest, ASessionTokenMakesACallTheSessions) {
  const auto session = AttachHostedHere("w-1");
  const auto client = Tcp();
  client->ActAs(session->frames.welcome().session_token());
  v1::DeliveryRecord record;
  EXPECT_TRUE(client->Send("Builder", Message("e1"), "", &record).ok());
  EXPECT_EQ(record.sender().origin(), v1::ORIGIN_SESSION);
  EXPECT_EQ(record.sender().session_id(), "w-1");
  EXPECT_EQ(record.sender().name(), "Reviewer");

  client->ActAs("guess");
  EXPECT_THAT(
      client->Send("Builder", Message("e2"), "", &record),
      EndsWithReason(grpc::StatusCode::UNAUTHENTICATED, "SESSION_UNKNOWN"));
}

TEST_F(CallersOverTheWireTest, TheTokenOfASupersededSessionIsWorthless) {
  const auto first = Attach("w-1");
  const std::string token = first->frames.welcome().session_token();
  v1::Hello hello = HelloOf("w-1");
  hello.set_previous_session_token(token);
  AttachClient second(Tcp());
  second.SayHello(hello);
  second.StartReading();
  second.frames.WaitFor(Frame::kWelcome);
  const auto client = Tcp();
  client->ActAs(token);
  EXPECT_THAT(
      client->Send("Builder", Message("e1"), "", nullptr),
      EndsWithReason(grpc::StatusCode::UNAUTHENTICATED, "SESSION_UNKNOWN"));
}

TEST_F(CallersOverTheWireTest, APersonConfiguresNobody) {
  v1::ConfigureWorkerRequest request;
  request.set_session_id("x-1");
  request.set_name("X");
  request.set_description("d");
  v1::ConfigureWorkerResponse response;
  const auto client = Unix();
  // It has no workspace that it could name, and no right to.
  EXPECT_FALSE(client
                   ->Call(*client->workspaces,
                          &v1::WorkspaceService::Stub::ConfigureWorker, request,
                          response)
                   .ok());
}

TEST_F(CallersOverTheWireTest, AMessageOfTheLimitPassesAndOneMoreIsRefused) {
  std::string wide;
  for (int i = 0; i < 48'000; ++i) wide += "🛰";
  EXPECT_TRUE(
      Unix()->Send("Builder", Message("e1", wide), root_, nullptr).ok());
  EXPECT_THAT(
      Unix()->Send("Builder", Message("e2", wide + "x"), root_, nullptr),
      EndsWithReason(grpc::StatusCode::INVALID_ARGUMENT, "TEXT_TOO_LONG"));
}

}  // namespace
}  // namespace intercom
