#include "broker/work/worker_desk.h"

#include <filesystem>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A coordinator and a worker, both attached.
class WorkerDeskTest : public WorkRig {
 protected:
  WorkerDeskTest() {
    WriteTeam();
    coordinator_ = Join("c-1");
    worker_ = Join("w-1");
    // The coordinator's port is recorded in the config by a lane; it is there
    // already.
  }

  static v1::ConfigureWorkerRequest EntryFor(const std::string& session_id,
                                             const std::string& name) {
    v1::ConfigureWorkerRequest request;
    request.set_session_id(session_id);
    request.set_name(name);
    request.set_description("Builds things.");
    return request;
  }
  absl::StatusOr<v1::ConfigureWorkerResponse> Configure(
      const v1::ConfigureWorkerRequest& request) {
    return Call(&WorkerDesk::Configure, CallOf(coordinator_), request);
  }
  Answer<absl::StatusOr<v1::ReloadWorkerResponse>> BeginReload(
      const std::string& to) {
    Answer<absl::StatusOr<v1::ReloadWorkerResponse>> answer;
    v1::ReloadWorkerRequest request;
    request.set_to(to);
    desk_.Reload(CallOf(coordinator_), request, answer.Callback());
    return answer;
  }
  // Answers the control number `at` of a session.
  void AnswerControl(const TestSession& session, size_t at, bool ok,
                     const std::string& error = "",
                     const v1::StatusReport& status = {}) {
    const auto frames =
        session.link->WaitFor(v1::AttachResponse::kControl, at + 1);
    v1::ControlResult result;
    result.set_control_id(frames[at].control().control_id());
    result.set_ok(ok);
    result.set_error(error);
    *result.mutable_status() = status;
    controls_.OnResult(session.key, result);
    Sync();
  }
  TestSession coordinator_;
  TestSession worker_;
};

// --- Configure

TEST_F(WorkerDeskTest, ConfigureWritesExactlyTheEntry) {
  const std::string before = ReadText(ConfigPath(root_));
  const auto response = Configure(EntryFor("x-1", "Builder"));
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->changed());
  EXPECT_FALSE(response->attached());
  EXPECT_EQ(response->entry().name(), "Builder");
  EXPECT_EQ(response->entry().project_directory(), ".");
  EXPECT_EQ(response->entry().port(), kTestPort);
  const std::string after = ReadText(ConfigPath(root_));
  // What was there is there still, unknown keys and all.
  const std::string kept = before.substr(0, before.rfind("\n  ]"));
  EXPECT_EQ(after.substr(0, kept.size()), kept);
  EXPECT_THAT(after, HasSubstr("\"sessionId\": \"x-1\""));
  EXPECT_THAT(after, HasSubstr("\"future\": [1.10]"));
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(WorkerDeskTest, WhatACallLeavesOutStaysAsTheEntrySays) {
  std::filesystem::create_directories(root_ + "/apps/build");
  v1::ConfigureWorkerRequest request = EntryFor("x-1", "Builder");
  request.set_project_directory("apps/build");
  request.set_port(7777);
  ASSERT_THAT(Configure(request), IsOk());
  const auto renamed = Configure(EntryFor("x-1", "Maker"));
  ASSERT_THAT(renamed, IsOk());
  EXPECT_EQ(renamed->entry().name(), "Maker");
  EXPECT_EQ(renamed->entry().project_directory(), "apps/build");
  EXPECT_EQ(renamed->entry().port(), 7777);
}

TEST_F(WorkerDeskTest, ANewEntrysDirectoryIsThatOfItsAttachedSession) {
  std::filesystem::create_directories(root_ + "/apps/build");
  v1::Hello hello = HelloOf("x-1");
  hello.set_cwd(root_ + "/apps/build");
  ASSERT_THAT(TryAttach(hello), IsOk());
  EXPECT_EQ(Configure(EntryFor("x-1", "Builder"))->entry().project_directory(),
            "apps/build");
}

TEST_F(WorkerDeskTest, WhetherTheSessionEverAttachedIsTold) {
  EXPECT_FALSE(Configure(EntryFor("x-1", "Builder"))->known());
  const TestSession fresh = Join("x-1");
  EXPECT_TRUE(Configure(EntryFor("x-1", "Builder"))->known());
  Detach(fresh);
  EXPECT_TRUE(Configure(EntryFor("x-1", "Builder"))->known());
}

TEST_F(WorkerDeskTest, ConfiguringTheSameAgainWritesNothing) {
  EXPECT_THAT(Configure(EntryFor("x-1", "Builder")), IsOk());
  const auto stamp = std::filesystem::last_write_time(ConfigPath(root_));
  const auto again = Configure(EntryFor("x-1", "Builder"));
  ASSERT_THAT(again, IsOk());
  EXPECT_FALSE(again->changed());
  EXPECT_EQ(std::filesystem::last_write_time(ConfigPath(root_)), stamp);
}

TEST_F(WorkerDeskTest, ConfigureReachesTheAttachedSessionAsARole) {
  const TestSession fresh = Join("x-1");
  const auto response = Configure(EntryFor("x-1", "Builder"));
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->attached());
  const auto changes = fresh.link->Of(v1::AttachResponse::kRoleChanged);
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0].role_changed().role(), v1::ROLE_WORKER);
}

TEST_F(WorkerDeskTest, ANameInUseIsRefusedInAnyCase) {
  const std::string before = ReadText(ConfigPath(root_));
  EXPECT_THAT(Configure(EntryFor("x-1", "reviewer")),
              FailsWith(absl::StatusCode::kAlreadyExists, "NAME_TAKEN"));
  EXPECT_EQ(ReadText(ConfigPath(root_)), before);
}

TEST_F(WorkerDeskTest, AWorkerMayBeRenamed) {
  EXPECT_THAT(Configure(EntryFor("w-1", "REVIEWER")), IsOk());
  EXPECT_THAT(ReadText(ConfigPath(root_)), HasSubstr("\"REVIEWER\""));
}

TEST_F(WorkerDeskTest, ASessionOfAnotherWorkspaceIsRefused) {
  const std::string other = dir_ / "other";
  WriteConfig(other, ConfigText({{"o-1", "Coordinator"}}));
  v1::Hello hello = HelloOf("x-1");
  hello.set_cwd(other);
  const TestSession elsewhere = *TryAttach(hello);
  for (const bool live : {true, false}) {
    if (!live) Detach(elsewhere);
    const auto refused = Configure(EntryFor("x-1", "Builder"));
    EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                   "SESSION_BELONGS_ELSEWHERE"));
    EXPECT_THAT(MessageOf(refused.status()), HasSubstr(other));
  }
}

TEST_F(WorkerDeskTest, ADirectoryOutsideIsRefused) {
  std::filesystem::create_directory_symlink("/usr", root_ + "/link");
  for (const char* directory : {"/usr", "../other", "link/bin"}) {
    v1::ConfigureWorkerRequest request = EntryFor("x-1", "Builder");
    request.set_project_directory(directory);
    EXPECT_EQ(ReasonOf(Configure(request).status()), "DIRECTORY_OUTSIDE")
        << directory;
  }
  v1::ConfigureWorkerRequest request = EntryFor("x-1", "Builder");
  request.set_project_directory("absent");
  EXPECT_THAT(Configure(request),
              FailsWith(absl::StatusCode::kNotFound, "NO_DIRECTORY"));
}

TEST_F(WorkerDeskTest, ADirectoryInsideIsKeptInItsCanonicalForm) {
  std::filesystem::create_directories(root_ + "/apps/build");
  v1::ConfigureWorkerRequest request = EntryFor("x-1", "Builder");
  request.set_project_directory("apps/./build/");
  EXPECT_EQ(Configure(request)->entry().project_directory(), "apps/build");
}

TEST_F(WorkerDeskTest, FieldsOutOfRangeAreRefusedNamingTheRule) {
  EXPECT_THAT(Configure(EntryFor("", "Builder")),
              HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Configure(EntryFor("x-1", "")),
              HasCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Configure(EntryFor("x-1", "Coordinator")),
              ::testing::Not(IsOk()));
  v1::ConfigureWorkerRequest request = EntryFor("x-1", "Builder");
  request.set_description(std::string(4097, 'd'));
  EXPECT_THAT(Configure(request), HasCode(absl::StatusCode::kInvalidArgument));
}

TEST_F(WorkerDeskTest, NothingIsWrittenOnceTheFileNamesAnotherCoordinator) {
  const std::string text =
      ConfigText({{"x-9", "Coordinator"}, {"w-1", "Reviewer"}});
  WriteConfig(root_, text);
  const auto refused = Configure(EntryFor("x-1", "Builder"));
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "COORDINATOR_CHANGED"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("x-9"));
  EXPECT_EQ(ReadText(ConfigPath(root_)), text);
}

TEST_F(WorkerDeskTest, AQueuedChangeOfADeadGenerationIsRefused) {
  const std::string before = ReadText(ConfigPath(root_));
  Answer<absl::StatusOr<v1::ConfigureWorkerResponse>> answer;
  WhileQueued(
      [&] {
        desk_.Configure(CallOf(coordinator_), EntryFor("x-1", "Builder"),
                        answer.Callback());
      },
      [&] { Detach(coordinator_); });
  EXPECT_THAT(answer.Wait(),
              FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
  EXPECT_EQ(ReadText(ConfigPath(root_)), before);
}

TEST_F(WorkerDeskTest, OnlyTheCoordinatorConfigures) {
  EXPECT_THAT(
      Call(&WorkerDesk::Configure, CallOf(worker_), EntryFor("x-1", "Builder")),
      FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  CallerEvidence shell;
  shell.ancestry = {OnState([&] { return roster_.Find("c-1")->host_pid; })};
  EXPECT_THAT(Call(&WorkerDesk::Configure, shell, EntryFor("x-1", "Builder")),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

TEST_F(WorkerDeskTest, AnInvalidConfigStaysByteIdentical) {
  WriteConfig(root_, "{ broken");
  EXPECT_THAT(
      Configure(EntryFor("x-1", "Builder")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID"));
  EXPECT_EQ(ReadText(ConfigPath(root_)), "{ broken");
}

// --- Reload

TEST_F(WorkerDeskTest, AReloadIsOkWhenTheHostSaysSo) {
  const TestSession fresh = Join("x-1");
  EXPECT_THAT(Configure(EntryFor("x-1", "Builder")), IsOk());
  const auto answer = BeginReload("builder");
  const auto frames = fresh.link->WaitFor(v1::AttachResponse::kControl);
  EXPECT_EQ(frames[0].control().kind(),
            v1::Control::KIND_RELOAD_RESPONSIBILITY);
  EXPECT_EQ(frames[0].control().agent_entry().description(), "Builds things.");
  AnswerControl(fresh, 0, true, "the name is taken");
  ASSERT_THAT(answer.Wait(), IsOk());
  EXPECT_EQ(answer.Wait()->entry().name(), "Builder");
  EXPECT_EQ(answer.Wait()->warning(), "the name is taken");
  EXPECT_FALSE(OnState([&] { return roster_.Find("x-1")->awaits_reload; }));
}

TEST_F(WorkerDeskTest, AWorkerThatIsAwayCannotReload) {
  Detach(worker_);
  EXPECT_THAT(BeginReload("Reviewer").Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_AWAY"));
}

TEST_F(WorkerDeskTest, ReloadIsForWorkersThatExist) {
  EXPECT_THAT(BeginReload("Coordinator").Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
  EXPECT_THAT(BeginReload("nobody").Wait(),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
}

TEST_F(WorkerDeskTest, AReloadThatTheHostRefusesHasFailed) {
  const auto answer = BeginReload("Reviewer");
  AnswerControl(worker_, 0, false, "no\x1b[31m session");
  EXPECT_THAT(answer.Wait(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                       "RELOAD_FAILED"));
  EXPECT_THAT(MessageOf(answer.Wait().status()), HasSubstr("no session"));
}

TEST_F(WorkerDeskTest, AReloadWithoutAnswerIsUnknownAfter5Seconds) {
  const auto answer = BeginReload("Reviewer");
  worker_.link->WaitFor(v1::AttachResponse::kControl);
  Sync();
  Advance(absl::Seconds(5));
  EXPECT_THAT(answer.Wait(), FailsWith(absl::StatusCode::kDeadlineExceeded,
                                       "OUTCOME_UNKNOWN"));
}

// --- Status

TEST_F(WorkerDeskTest, AStatusRequestAnswersAtOnceAndAsksForAReport) {
  v1::Activity activity;
  activity.set_phase(v1::ACTIVITY_PHASE_TOOL);
  activity.set_label("Running command");
  registrar_.SetActivity(worker_.key, activity);
  v1::RequestStatusRequest request;
  request.set_to("Reviewer");
  const auto response =
      Call(&WorkerDesk::RequestStatus, CallOf(coordinator_), request);
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->report_requested());
  EXPECT_EQ(response->entry().presence(), v1::PRESENCE_ATTACHED);
  EXPECT_EQ(response->entry().activity().label(), "Running command");

  v1::StatusReport status;
  status.set_busy(true);
  status.mutable_activity()->set_phase(v1::ACTIVITY_PHASE_THINKING);
  AnswerControl(worker_, 0, true, "", status);
  const auto notices = NoticesOf(coordinator_, "STATUS");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_TRUE(notices[0].envelope().quiet());
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("busy, thinking"));
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("Reviewer"));
}

TEST_F(WorkerDeskTest, AStatusRequestWithoutAnswerIsToldAndWakesNobody) {
  v1::RequestStatusRequest request;
  request.set_to("Reviewer");
  ASSERT_THAT(Call(&WorkerDesk::RequestStatus, CallOf(coordinator_), request),
              IsOk());
  Advance(WorkerDesk::kControlTimeout);
  const auto notices = NoticesOf(coordinator_, "STATUS");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_TRUE(notices[0].envelope().quiet());
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("Reviewer"));
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("did not answer"));
}

TEST_F(WorkerDeskTest, AStatusThatTheHostRefusesIsTold) {
  v1::RequestStatusRequest request;
  request.set_to("Reviewer");
  ASSERT_THAT(Call(&WorkerDesk::RequestStatus, CallOf(coordinator_), request),
              IsOk());
  AnswerControl(worker_, 0, false, "no session");
  const auto notices = NoticesOf(coordinator_, "STATUS");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("no session"));
}

TEST_F(WorkerDeskTest, TheStatusOfAWorkerThatIsAwayIsWhatIsKnown) {
  Detach(worker_);
  v1::RequestStatusRequest request;
  request.set_to("Reviewer");
  const auto response =
      Call(&WorkerDesk::RequestStatus, CallOf(coordinator_), request);
  ASSERT_THAT(response, IsOk());
  EXPECT_FALSE(response->report_requested());
  EXPECT_EQ(response->entry().presence(), v1::PRESENCE_AWAY);
}

TEST_F(WorkerDeskTest, AReportGoesToTheCoordinatorAndWakesNobody) {
  const TestSession anonymous = Join("x-1");
  for (const TestSession& session : {worker_, anonymous}) {
    v1::ReportStatusRequest request;
    request.mutable_status()->set_session_id("forged");
    const auto response =
        Call(&WorkerDesk::ReportStatus, CallOf(session), request);
    ASSERT_THAT(response, IsOk());
    EXPECT_TRUE(response->reported());
    EXPECT_EQ(response->status().session_id(), session.key.session_id);
    EXPECT_EQ(response->status().port(), kTestPort);
  }
  const auto notices = NoticesOf(coordinator_, "STATUS");
  ASSERT_THAT(notices, SizeIs(2));
  EXPECT_TRUE(notices[0].envelope().quiet());
  EXPECT_THAT(notices[1].envelope().text(), HasSubstr("session x-1"));
}

TEST_F(WorkerDeskTest, TheStatusOfAnUnknownIdNeverRegisters) {
  const TestSession anonymous = Join("x-1");
  const std::string before = ReadText(ConfigPath(root_));
  ASSERT_THAT(NoticesOf(coordinator_, "REGISTRATION"), SizeIs(1));
  ASSERT_THAT(Call(&WorkerDesk::ReportStatus, CallOf(anonymous),
                   v1::ReportStatusRequest()),
              IsOk());
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(NoticesOf(coordinator_, "STATUS"), SizeIs(1));
  EXPECT_THAT(NoticesOf(coordinator_, "REGISTRATION"), SizeIs(1));
  EXPECT_EQ(ReadText(ConfigPath(root_)), before);
  EXPECT_EQ(OnState([&] { return roster_.Find("x-1")->role; }),
            v1::ROLE_ANONYMOUS);
}

TEST_F(WorkerDeskTest, TheCoordinatorHasNobodyToReportTo) {
  EXPECT_THAT(Call(&WorkerDesk::ReportStatus, CallOf(coordinator_),
                   v1::ReportStatusRequest()),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

// --- The view of the workspace

TEST_F(WorkerDeskTest, TheRosterHasConfiguredSessionsInOrderThenOthers) {
  Join("x-1");
  Detach(worker_);
  EXPECT_THAT(Accept(Message("e1"), "c-1", "w-1"), IsOk());
  const auto response = Call(&WorkerDesk::GetWorkspace, CallOf(coordinator_),
                             v1::GetWorkspaceRequest());
  ASSERT_THAT(response, IsOk());
  ASSERT_EQ(response->entries_size(), 3);
  EXPECT_EQ(response->root(), root_);
  EXPECT_FALSE(response->stale());
  EXPECT_EQ(response->multiplexer(), "none");
  EXPECT_EQ(response->entries(0).name(), "Coordinator");
  EXPECT_EQ(response->entries(1).name(), "Reviewer");
  EXPECT_EQ(response->entries(1).presence(), v1::PRESENCE_AWAY);
  EXPECT_EQ(response->entries(1).waiting(), 1);
  EXPECT_EQ(response->entries(2).session_id(), "x-1");
  EXPECT_EQ(response->entries(2).role(), v1::ROLE_ANONYMOUS);
}

TEST_F(WorkerDeskTest, TheRosterSaysWhetherAResponsibilityIsLoadedAndPresent) {
  const std::string hash =
      OnState([&] { return roster_.Find("w-1")->entry->entry_hash(); });
  registrar_.SetLoaded(worker_.key, hash);
  const auto look = [&] {
    return Call(&WorkerDesk::GetWorkspace, CallOf(coordinator_),
                v1::GetWorkspaceRequest())
        ->entries(1);
  };
  EXPECT_TRUE(look().responsibility_loaded());
  EXPECT_FALSE(look().responsibility_outdated());
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer", "Something else."}}));
  look();
  EXPECT_TRUE(look().responsibility_outdated());
}

TEST_F(WorkerDeskTest, AnInvalidConfigShowsTheLastGoodRosterMarkedStale) {
  WriteConfig(root_, "{ broken");
  const auto response = Call(&WorkerDesk::GetWorkspace, CallOf(worker_),
                             v1::GetWorkspaceRequest());
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->stale());
  EXPECT_THAT(response->config_error(), HasSubstr("config.json"));
  EXPECT_EQ(response->entries_size(), 2);
}

TEST_F(WorkerDeskTest, APersonSeesTheRosterOfADirectory) {
  v1::GetWorkspaceRequest request;
  request.set_directory(root_);
  EXPECT_THAT(Call(&WorkerDesk::GetWorkspace, Person(), request), IsOk());
  request.set_directory(dir_.path());
  EXPECT_THAT(Call(&WorkerDesk::GetWorkspace, Person(), request),
              FailsWith(absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE"));
}

// --- Registrations

TEST_F(WorkerDeskTest, AnAnonymousSessionIsAnnouncedToTheCoordinator) {
  Join("x-1");
  const auto notices = NoticesOf(coordinator_, "REGISTRATION");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_FALSE(notices[0].envelope().quiet());
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("sessionId: x-1"));
}

TEST_F(WorkerDeskTest, ASessionThatOnlyCameBackIsNotAnnouncedAgain) {
  const TestSession first = Join("x-1");
  SayReceipt(coordinator_,
             NoticesOf(coordinator_, "REGISTRATION")[0].delivery_id(),
             v1::Receipt::EVENT_INJECTED);
  Detach(first);
  for (const auto reason :
       {v1::START_REASON_RECONNECT, v1::START_REASON_RELOAD}) {
    v1::Hello hello = HelloOf("x-1");
    hello.set_start_reason(reason);
    const auto again = TryAttach(hello);
    ASSERT_THAT(again, IsOk());
    Detach(*again);
  }
  EXPECT_THAT(NoticesOf(coordinator_, "REGISTRATION"), SizeIs(1));
}

TEST_F(WorkerDeskTest, ABrokenLinkDoesNotCostTheAnnouncement) {
  Detach(coordinator_);
  Detach(Join("x-1"));
  EXPECT_EQ(MailboxOf("c-1").envelopes, 0);
  v1::Hello hello = HelloOf("x-1");
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  EXPECT_THAT(TryAttach(hello), IsOk());
  EXPECT_EQ(MailboxOf("c-1").envelopes, 1);
}

TEST_F(WorkerDeskTest, WhoComesBackDuringTheWithdrawalIsAnnouncedAgain) {
  const TestSession first = Join("x-1");
  const std::string announced =
      NoticesOf(coordinator_, "REGISTRATION")[0].delivery_id();
  Detach(first);
  v1::Hello hello = HelloOf("x-1");
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  EXPECT_THAT(TryAttach(hello), IsOk());
  SayReceipt(coordinator_, announced, v1::Receipt::EVENT_WITHDRAWN);
  Sync();
  EXPECT_THAT(NoticesOf(coordinator_, "REGISTRATION"), SizeIs(2));
}

// Its host never says whether it could withdraw the first announcement.
TEST_F(WorkerDeskTest, WhoComesBackIsAnnouncedEvenIfTheCoordinatorDies) {
  const TestSession first = Join("x-1");
  Detach(first);
  v1::Hello hello = HelloOf("x-1");
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  EXPECT_THAT(TryAttach(hello), IsOk());
  Advance(absl::Seconds(5));
  Sync();
  Detach(coordinator_);
  Sync();
  EXPECT_EQ(MailboxOf("c-1").envelopes, 1);
}

TEST_F(WorkerDeskTest, TheAnnouncementGoesWithTheSession) {
  Detach(coordinator_);
  const TestSession fresh = Join("x-1");
  Detach(fresh);
  EXPECT_EQ(MailboxOf("c-1").envelopes, 0);
}

TEST_F(WorkerDeskTest, TheAnnouncementOfASessionThatRestartsStays) {
  Detach(coordinator_);
  Detach(Join("x-1"), v1::Goodbye::REASON_RELOAD);
  EXPECT_EQ(MailboxOf("c-1").envelopes, 1);
}

// --- The port

class PortTest : public WorkRig {};

TEST_F(PortTest, TheCoordinatorsEntryRecordsWhereTheBrokerListens) {
  std::string text = ConfigText({{"c-1", "Coordinator"}, {"w-1", "Reviewer"}});
  const std::string port = "\"port\": " + std::to_string(kTestPort);
  text.replace(text.find(port), port.size(), "\"port\": 1234");
  WriteConfig(root_, text);
  Join("c-1");
  // The lane of the workspace runs one job after the other: the next read comes
  // after the edit.
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(ReadText(ConfigPath(root_)),
              HasSubstr(ConfigText({{"c-1", "Coordinator"}}).substr(0, 200)));
}

}  // namespace
}  // namespace intercom
