#include "broker/work/coordinator_desk.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// c-1 coordinates, x-9 is attached, and the file names x-9 by now.
class CoordinatorDeskTest : public WorkRig {
 protected:
  CoordinatorDeskTest() {
    WriteTeam();
    coordinator_ = Join("c-1");
    other_ = Join("x-9");
    WriteConfig(root_,
                ConfigText({{"x-9", "Coordinator"}, {"w-1", "Reviewer"}}));
    EXPECT_THAT(ReadConfigNow(), IsOk());
  }
  absl::StatusOr<v1::ConfirmCoordinatorResponse> Confirm(
      const CallerEvidence& evidence, const std::string& session_id = "x-9") {
    v1::ConfirmCoordinatorRequest request;
    request.set_directory(root_);
    request.set_coordinator_session_id(session_id);
    return CallOn(coordinator_desk_, &CoordinatorDesk::Confirm, evidence,
                  request);
  }
  v1::Role RoleOf(const std::string& session_id) {
    return OnState([&] { return roster_.Find(session_id)->role; });
  }

  TestSession coordinator_;
  TestSession other_;
};

TEST_F(CoordinatorDeskTest, BeforeThatTheFileChangesNothing) {
  EXPECT_EQ(RoleOf("c-1"), v1::ROLE_COORDINATOR);
  const auto workspace = Call(&WorkerDesk::GetWorkspace, CallOf(coordinator_),
                              v1::GetWorkspaceRequest());
  ASSERT_THAT(workspace, IsOk());
  EXPECT_EQ(workspace->coordinator_session_id(), "c-1");
  EXPECT_EQ(workspace->claimed_coordinator_session_id(), "x-9");
  EXPECT_THAT(workspace->config_error(),
              HasSubstr("intercom coordinator take"));
}

TEST_F(CoordinatorDeskTest, APersonsWordMakesItSoAtOnce) {
  const auto response = Confirm(Person());
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->root(), root_);
  EXPECT_EQ(response->coordinator_session_id(), "x-9");
  EXPECT_EQ(response->previous_session_id(), "c-1");
  EXPECT_EQ(RoleOf("x-9"), v1::ROLE_COORDINATOR);
  EXPECT_EQ(RoleOf("c-1"), v1::ROLE_ANONYMOUS);
  const auto changes = other_.link->Of(v1::AttachResponse::kRoleChanged);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].role_changed().role(), v1::ROLE_COORDINATOR);
  const auto workspace = OnState([&] { return mirror_.Find(root_); });
  EXPECT_EQ(workspace->coordinator_session_id, "x-9");
  EXPECT_EQ(workspace->claimed_coordinator_session_id, "");
}

TEST_F(CoordinatorDeskTest, ItOutlivesTheBroker) {
  EXPECT_THAT(Confirm(Person()), IsOk());
  EXPECT_THAT(OnState([&] { return mirror_.Load(); }), IsOk());
  EXPECT_EQ(
      OnState([&] { return mirror_.Find(root_); })->coordinator_session_id,
      "x-9");
}

TEST_F(CoordinatorDeskTest, BothSessionsAreToldQuietly) {
  EXPECT_THAT(Confirm(Person()), IsOk());
  for (const TestSession& session : {coordinator_, other_}) {
    const auto notices = NoticesOf(session, "COORDINATOR");
    ASSERT_THAT(notices, SizeIs(1));
    EXPECT_TRUE(notices[0].envelope().quiet());
    EXPECT_EQ(notices[0].sender().origin(), v1::ORIGIN_BROKER);
    EXPECT_THAT(notices[0].envelope().text(), HasSubstr("A person made"));
  }
}

TEST_F(CoordinatorDeskTest, TheNewOneHearsOfSessionsThatWait) {
  EXPECT_THAT(Confirm(Person()), IsOk());
  const auto notices = NoticesOf(other_, "REGISTRATION");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("sessionId: c-1"));
}

TEST_F(CoordinatorDeskTest, TheNewOneLeads) {
  EXPECT_THAT(Confirm(Person()), IsOk());
  v1::ConfigureWorkerRequest request;
  request.set_session_id("y-1");
  request.set_name("Builder");
  request.set_description("Builds.");
  EXPECT_THAT(Call(&WorkerDesk::Configure, CallOf(other_), request), IsOk());
  EXPECT_THAT(Call(&WorkerDesk::Configure, CallOf(coordinator_), request),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  // Others reach it, though nobody can reload it.
  const TestSession worker = Join("w-1");
  EXPECT_THAT(Send(CallOf(worker), "Coordinator", Message("e1")), IsOk());
  EXPECT_EQ(DeliveriesOf(other_, v1::ENVELOPE_KIND_MESSAGE).size(), 1u);
}

TEST_F(CoordinatorDeskTest, ItIsObserved) {
  EXPECT_THAT(Confirm(Person()), IsOk());
  const auto rows = Observed("x-9");
  ASSERT_THAT(rows, SizeIs(2));
  EXPECT_EQ(rows[0].kind(), "coordinator");
  EXPECT_EQ(rows[0].label(), "confirmed");
}

TEST_F(CoordinatorDeskTest, NobodyButAPersonConfirms) {
  CallerEvidence shell;
  shell.claimed_session = "x-9";
  CallerEvidence client;
  client.over_tcp = true;
  for (const CallerEvidence& evidence :
       {CallOf(coordinator_), CallOf(other_), shell, client}) {
    EXPECT_THAT(
        Confirm(evidence),
        FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  }
  EXPECT_EQ(RoleOf("c-1"), v1::ROLE_COORDINATOR);
}

TEST_F(CoordinatorDeskTest, WhatWasNotSeenIsNotConfirmed) {
  EXPECT_THAT(
      Confirm(Person(), "y-1"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIRMATION_STALE"));
  EXPECT_EQ(RoleOf("c-1"), v1::ROLE_COORDINATOR);
}

TEST_F(CoordinatorDeskTest, WhereTheyAgreeThereIsNothingToConfirm) {
  EXPECT_THAT(Confirm(Person()), IsOk());
  EXPECT_THAT(Confirm(Person()),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "COORDINATOR_UNCHANGED"));
}

TEST_F(CoordinatorDeskTest, AWorkerMayBecomeCoordinatorAndTheOldOneAWorker) {
  // Their places are exchanged in the file.
  WriteConfig(root_, ConfigText({{"x-9", "Coordinator"}, {"c-1", "Former"}}));
  EXPECT_THAT(Confirm(Person()), IsOk());
  EXPECT_EQ(RoleOf("x-9"), v1::ROLE_COORDINATOR);
  EXPECT_EQ(RoleOf("c-1"), v1::ROLE_WORKER);
}

}  // namespace
}  // namespace intercom
