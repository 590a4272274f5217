// Reports, status pages, observations and changes of the workspace over real
// connections.

#include <string>
#include <vector>

#include "broker/server/settings.h"
#include "tests/integration/broker_fixture.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

using Workspaces = v1::WorkspaceService::Stub;

class WorkspaceOverTheWireTest : public BrokerFixture {
 protected:
  WorkspaceOverTheWireTest() { StartBroker(); }

  // A client that acts as an attached session.
  std::shared_ptr<BrokerClient> ClientOf(const AttachClient& session) {
    const auto client = Tcp();
    client->ActAs(session.frames.welcome().session_token());
    return client;
  }
  template <typename Request, typename Response>
  static CallEnd Call(const std::shared_ptr<BrokerClient>& client,
                      grpc::Status (Workspaces::*method)(grpc::ClientContext*,
                                                         const Request&,
                                                         Response*),
                      const Request& request, Response& response) {
    return client->Call(*client->workspaces, method, request, response);
  }
  CallEnd Report(const AttachClient& worker, v1::Report::Status status,
                 const std::string& summary, v1::ReportWorkResponse& response) {
    v1::ReportWorkRequest request;
    request.set_status(status);
    request.set_summary(summary);
    return Call(ClientOf(worker), &Workspaces::ReportWork, request, response);
  }
  v1::WorkerStatus StatusOf(const std::string& name, bool probe = false) {
    v1::GetWorkerStatusRequest request;
    request.set_name(name);
    request.set_probe(probe);
    request.set_directory(root_);
    v1::GetWorkerStatusResponse response;
    const CallEnd end =
        Call(Unix(), &Workspaces::GetWorkerStatus, request, response);
    EXPECT_TRUE(end.ok()) << end.message;
    return response.workers_size() == 1 ? response.workers(0)
                                        : v1::WorkerStatus();
  }
  // Answers probes in the name of `session_id`.
  static AttachClient::OnFrame AnswerProbes(const std::string& session_id) {
    return [session_id](AttachClient& client, const Frame& frame) {
      InjectAtOnce(client, frame);
      if (frame.control().kind() != v1::Control::KIND_PROBE) return;
      v1::AttachRequest answer;
      v1::ControlResult& result = *answer.mutable_control_result();
      result.set_control_id(frame.control().control_id());
      result.set_ok(true);
      result.mutable_status()->set_session_id(session_id);
      client.Write(answer);
    };
  }
};

TEST_F(WorkspaceOverTheWireTest, AReportReachesCoordinatorListAndStatus) {
  const auto coordinator = Attach("c-1", InjectAtOnce);
  const auto worker = Attach("w-1");
  v1::ReportWorkResponse response;
  ASSERT_TRUE(Report(*worker, v1::Report::STATUS_NEEDS_DECISION,
                     "left or right?", response)
                  .ok());
  EXPECT_TRUE(response.notified());
  const auto told = coordinator->frames.WaitFor(Frame::kDelivery)[0].delivery();
  EXPECT_EQ(told.envelope().kind(), v1::ENVELOPE_KIND_REPORT);
  EXPECT_EQ(told.envelope().text(), "left or right?");
  EXPECT_EQ(StatusOf("Reviewer").report().summary(), "left or right?");

  v1::GetWorkspaceRequest request;
  request.set_directory(root_);
  v1::GetWorkspaceResponse workspace;
  ASSERT_TRUE(Call(Unix(), &Workspaces::GetWorkspace, request, workspace).ok());
  EXPECT_EQ(workspace.coordinator_session_id(), "c-1");
  EXPECT_EQ(workspace.entries(1).report().status(),
            v1::Report::STATUS_NEEDS_DECISION);
}

TEST_F(WorkspaceOverTheWireTest, AReportOutlivesTheBrokerAndAPersonAnswersIt) {
  {
    const auto worker = Attach("w-1");
    v1::ReportWorkResponse response;
    ASSERT_TRUE(
        Report(*worker, v1::Report::STATUS_BLOCKED, "stuck", response).ok());
  }
  RestartBroker();
  EXPECT_EQ(StatusOf("Reviewer").report().summary(), "stuck");
  EXPECT_EQ(StatusOf("Reviewer").connection().reason(), "broker_started");
  EXPECT_FALSE(StatusOf("Reviewer").report().has_answered_at());
  EXPECT_TRUE(Unix()->Send("Reviewer", Message("e1"), root_, nullptr).ok());
  EXPECT_TRUE(StatusOf("Reviewer").report().has_answered_at());
}

TEST_F(WorkspaceOverTheWireTest, AProbeAsksTheHostsThemselves) {
  const auto answers = Attach("w-1", AnswerProbes("w-1"));
  const auto pretends = Attach("w-2", AnswerProbes("w-1"));
  EXPECT_EQ(StatusOf("Reviewer", /*probe=*/true).connection().reason(),
            "answered");
  EXPECT_EQ(StatusOf("Builder", /*probe=*/true).connection().reason(),
            "identity_mismatch");
}

TEST_F(WorkspaceOverTheWireTest, ARemovedWorkersMailComesBackToItsSender) {
  const auto coordinator = Attach("c-1", InjectAtOnce);
  const auto client = ClientOf(*coordinator);
  ASSERT_TRUE(client->Send("Builder", Message("e1"), "", nullptr).ok());
  v1::RemoveWorkerRequest request;
  request.set_to("Builder");
  v1::RemoveWorkerResponse response;
  ASSERT_TRUE(Call(client, &Workspaces::RemoveWorker, request, response).ok());
  EXPECT_EQ(response.refused(), 1);
  EXPECT_THAT(ReadText(ConfigPath(root_)), Not(HasSubstr("w-2")));
  const auto notice =
      coordinator->frames.WaitFor(Frame::kDelivery)[0].delivery();
  EXPECT_EQ(notice.envelope().topic(), "REFUSED");
  EXPECT_THAT(client->Send("Builder", Message("e2"), "", nullptr),
              EndsWithReason(grpc::StatusCode::NOT_FOUND, "UNKNOWN_RECIPIENT"));
}

TEST_F(WorkspaceOverTheWireTest, TheLauncherOfFutureWorkersIsWritten) {
  const auto coordinator = Attach("c-1");
  v1::SetMultiplexerRequest request;
  request.set_multiplexer("tmux");
  v1::SetMultiplexerResponse response;
  ASSERT_TRUE(Call(ClientOf(*coordinator), &Workspaces::SetMultiplexer, request,
                   response)
                  .ok());
  EXPECT_TRUE(response.changed());
  EXPECT_THAT(ReadText(ConfigPath(root_)), HasSubstr("\"tmux\""));
}

TEST_F(WorkspaceOverTheWireTest, AnAnonymousSessionRegistersAgain) {
  const auto coordinator = Attach("c-1", InjectAtOnce);
  const auto fresh = Attach("x-1");
  coordinator->frames.WaitFor(Frame::kDelivery);
  v1::RegisterResponse response;
  ASSERT_TRUE(Call(ClientOf(*fresh), &Workspaces::Register,
                   v1::RegisterRequest(), response)
                  .ok());
  EXPECT_TRUE(response.coordinator_attached());
}

TEST_F(WorkspaceOverTheWireTest, APersonMakesAnotherSessionTheCoordinator) {
  const auto coordinator = Attach("c-1");
  const auto other = Attach("x-9");
  WriteConfig(root_, ConfigText({{"x-9", "Coordinator"}, {"w-1", "Reviewer"}}));
  v1::ConfirmCoordinatorRequest request;
  request.set_directory(root_);
  request.set_coordinator_session_id("x-9");
  v1::ConfirmCoordinatorResponse response;
  EXPECT_THAT(
      Call(Tcp(), &Workspaces::ConfirmCoordinator, request, response),
      EndsWithReason(grpc::StatusCode::PERMISSION_DENIED, "NOT_PERMITTED"));
  ASSERT_TRUE(
      Call(Unix(), &Workspaces::ConfirmCoordinator, request, response).ok());
  EXPECT_EQ(response.previous_session_id(), "c-1");
  EXPECT_EQ(other->frames.WaitFor(Frame::kRoleChanged)[0].role_changed().role(),
            v1::ROLE_COORDINATOR);
  EXPECT_EQ(
      coordinator->frames.WaitFor(Frame::kRoleChanged)[0].role_changed().role(),
      v1::ROLE_ANONYMOUS);
}

TEST_F(WorkspaceOverTheWireTest, ObservationsOutliveTheBroker) {
  {
    const auto worker = Attach("w-1");
    Leave(*worker);
  }
  RestartBroker();
  v1::ListObservationsRequest request;
  request.set_session_id("w-1");
  v1::ListObservationsResponse response;
  const auto client = Unix();
  ASSERT_TRUE(client
                  ->Call(*client->inspection,
                         &v1::InspectionService::Stub::ListObservations,
                         request, response)
                  .ok());
  ASSERT_EQ(response.observations_size(), 2);
  EXPECT_EQ(response.observations(0).kind(), "detached");
  EXPECT_EQ(response.observations(1).kind(), "attached");
}

// --- Settings

TEST(OverdueSettingTest, TheFlagCountsMoreThanTheVariable) {
  EXPECT_EQ(*OverdueSetting("", ""), absl::Minutes(10));
  EXPECT_EQ(*OverdueSetting("", "30"), absl::Seconds(30));
  EXPECT_EQ(*OverdueSetting("1.5", "30"), absl::Milliseconds(1500));
  EXPECT_EQ(*OverdueSetting("0", "30"), absl::InfiniteDuration());
}

TEST(OverdueSettingTest, WhatIsNoTimeIsRefusedInWords) {
  for (const char* text :
       {"abc", "-1", "10m", "nan", "inf", "1e99", " ", "31622401"}) {
    const auto refused = OverdueSetting("", text);
    EXPECT_THAT(refused, FailsWith(absl::StatusCode::kInvalidArgument,
                                   "SETTING_INVALID"))
        << text;
    EXPECT_THAT(MessageOf(refused.status()),
                HasSubstr("PI_INTERCOM_OVERDUE_SECONDS"));
    EXPECT_THAT(MessageOf(OverdueSetting(text, "").status()),
                HasSubstr("--overdue"));
  }
}

}  // namespace
}  // namespace intercom
