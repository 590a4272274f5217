// Health and reflection, which answer without a token.

#include <string>

#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Optional;

class DiscoveryServicesTest : public BrokerFixture {
 protected:
  DiscoveryServicesTest() {
    StartBroker();
    client_ = BrokerClient::OverTcp(broker_->port(), "");
  }
  // A field of bytes in protobuf's encoding.
  static std::string Field(int number, const std::string& text) {
    return std::string(1, static_cast<char>(number << 3 | 2)) +
           static_cast<char>(text.size()) + text;
  }
  std::optional<std::string> Reflect(const std::string& request) {
    RawCall call(client_->channel,
                 "/grpc.reflection.v1alpha.ServerReflection/"
                 "ServerReflectionInfo");
    call.Write(request);
    return call.Read();
  }

  // HealthCheckResponse with status SERVING and NOT_SERVING.
  const std::string serving_ = "\x08\x01";
  const std::string not_serving_ = "\x08\x02";
  std::shared_ptr<BrokerClient> client_;
};

TEST_F(DiscoveryServicesTest, HealthAnswersForTheBrokerAndEachService) {
  for (const char* service :
       {"", "intercom.v1.SessionService", "intercom.v1.MessageService",
        "intercom.v1.WorkspaceService", "intercom.v1.InspectionService"}) {
    RawCall check(client_->channel, "/grpc.health.v1.Health/Check");
    check.Write(*service == '\0' ? "" : Field(1, service));
    check.HalfClose();
    EXPECT_THAT(check.Read(), Optional(serving_)) << service;
  }
}

TEST_F(DiscoveryServicesTest, HealthIsWatchedUntilTheDrain) {
  RawCall watch(client_->channel, "/grpc.health.v1.Health/Watch");
  watch.Write("");
  watch.HalfClose();
  EXPECT_THAT(watch.Read(), Optional(serving_));
  broker_->BeginStop();
  EXPECT_THAT(watch.Read(), Optional(not_serving_));
}

TEST_F(DiscoveryServicesTest, ReflectionListsTheServices) {
  EXPECT_THAT(Reflect(Field(7, "*")),
              Optional(AllOf(HasSubstr("intercom.v1.SessionService"),
                             HasSubstr("intercom.v1.MessageService"),
                             HasSubstr("intercom.v1.WorkspaceService"),
                             HasSubstr("intercom.v1.InspectionService"),
                             HasSubstr("grpc.health.v1.Health"))));
}

TEST_F(DiscoveryServicesTest, ReflectionDescribesOurServicesAndHealth) {
  EXPECT_THAT(Reflect(Field(4, "intercom.v1.MessageService")),
              Optional(HasSubstr("WithdrawMessage")));
  EXPECT_THAT(Reflect(Field(4, "grpc.health.v1.Health")),
              Optional(HasSubstr("HealthCheckResponse")));
}

}  // namespace
}  // namespace intercom
