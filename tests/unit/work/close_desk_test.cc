#include "broker/work/close_desk.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/work/run_watch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/work/close_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class CloseDeskTest : public CloseRig {};

// --- The whole way

TEST_F(CloseDeskTest, ReturnsOnceTheJobAndItsFenceAreDurable) {
  const auto response = Close();
  ASSERT_THAT(response, IsOk());
  EXPECT_FALSE(response->existed());
  const v1::Job& job = response->job();
  EXPECT_EQ(job.state(), v1::Job::STATE_REQUESTED);
  EXPECT_EQ(job.kind(), v1::Job::KIND_CLOSE);
  EXPECT_EQ(job.name(), "Reviewer");
  EXPECT_TRUE(job.fences());
  EXPECT_EQ(job.deadline_at().seconds() - job.created_at().seconds(), 120);
  EXPECT_EQ(JobOf(job.job_id()).state, v1::Job::STATE_REQUESTED);
  EXPECT_THAT(
      fences_.Check(root_, "w-1"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
}

TEST_F(CloseDeskTest, ReportReadyAndCommitPrecedeOneClose) {
  Begin();
  host_pid_ = PidOf("w-1");
  const auto prepare = ControlsOf(worker_, Control::KIND_PREPARE_CLOSE);
  ASSERT_THAT(prepare, SizeIs(1));
  EXPECT_EQ(prepare[0].job_id(), job_id_);
  EXPECT_TRUE(prepare[0].has_deadline_at());
  SayPrepared(Identity());
  const auto inspect = ControlsOf(coordinator_, Control::KIND_INSPECT_HOST);
  ASSERT_THAT(inspect, SizeIs(1));
  EXPECT_EQ(inspect[0].identity().pane().pane(), "%7");
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
  SayInspected();
  EXPECT_EQ(State(), v1::Job::STATE_AWAITING_HANDOFF);
  ASSERT_THAT(worker_.link->deliveries(), SizeIs(1));
  const v1::Delivery request = worker_.link->deliveries()[0];
  EXPECT_EQ(request.envelope().envelope_id(), prepare[0].handoff_envelope_id());
  EXPECT_EQ(request.envelope().kind(), v1::ENVELOPE_KIND_NOTICE);
  EXPECT_EQ(request.envelope().topic(), "HANDOFF_REQUEST");
  EXPECT_FALSE(request.envelope().quiet());
  EXPECT_EQ(request.sender().origin(), v1::ORIGIN_BROKER);
  EXPECT_THAT(request.envelope().text(), HasSubstr(job_id_));

  const auto reported = Report("half of it is done");
  ASSERT_THAT(reported, IsOk());
  EXPECT_EQ(reported->job().state(), v1::Job::STATE_AWAITING_SETTLEMENT);
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_INSPECT_HOST), SizeIs(1));
  SaySettled();
  EXPECT_EQ(State(), v1::Job::STATE_READY);
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_INSPECT_HOST), SizeIs(2));
  SayInspected();
  EXPECT_EQ(State(), v1::Job::STATE_CLOSING);
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
  SayInspected();
  ASSERT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), SizeIs(1));
  EXPECT_FALSE(
      ControlsOf(worker_, Control::KIND_COMMIT_CLOSE)[0].nonce().empty());
  SayCommitted();
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_CLOSE_PANE), IsEmpty());
  EndHost();
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_CLOSE_PANE), SizeIs(1));
  EXPECT_EQ(State(), v1::Job::STATE_CLOSING);
  SayPaneClosed();
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);

  EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_END_CLOSE), IsEmpty());
  ASSERT_THAT(NoticesOf("CLOSE"), SizeIs(1));
  EXPECT_THAT(NoticesOf("CLOSE")[0],
              HasSubstr("Reviewer is closed (close job " +
                        job_id_.substr(0, 8) + " (succeeded))"));
  EXPECT_THAT(NoticesOf("CLOSE")[0], HasSubstr("\n> half of it is done"));
}

TEST_F(CloseDeskTest, ARunThatAClosedWorkerLeftOpenFailsOnce) {
  RunWatch runs(*runner_, roster_, session_store_, runs_, run_store_,
                run_stops_, run_teller_, dispatcher_, watch_, clock_);
  const auto look = [&](absl::Duration after) {
    Advance(after);
    runner_->PostTask([&] { runs.Tick(); });
    Sync();
  };
  const std::string id = OpenRunning("e-1");
  DriveToCommit();
  SayCommitted();
  look(absl::ZeroDuration());
  EXPECT_EQ(RunOf(id).state, v1::Run::STATE_RUNNING);
  EndHost();
  SayPaneClosed();
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  for (int i = 0; i < 3; ++i) look(RunWatch::kReturnAtStart);
  EXPECT_EQ(RunOf(id).state, v1::Run::STATE_FAILED);
  EXPECT_EQ(RunOf(id).reason, "worker_gone");
  EXPECT_EQ(SettledInNews(), 1);
  runner_->Stop();
}

TEST_F(CloseDeskTest, ARunThatEndsWhileItsWorkerIsClosedIsDone) {
  const std::string id = OpenRunning("e-1");
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  SayRun(id, v1::RunEvent::EVENT_DONE);
  ASSERT_THAT(Report(), IsOk());
  SaySettled();
  SayInspected();
  SayInspected();
  SayCommitted();
  EndHost();
  SayPaneClosed();
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  EXPECT_EQ(RunOf(id).state, v1::Run::STATE_DONE);
  EXPECT_EQ(SettledInNews(), 1);
}

TEST_F(CloseDeskTest, ASessionWithoutAPaneIsClosedByItsHostAlone) {
  Begin();
  host_pid_ = PidOf("w-1");
  v1::HostIdentity identity = Identity();
  identity.clear_pane();
  SayPrepared(identity);
  SayInspected();
  ASSERT_THAT(Report(), IsOk());
  SaySettled();
  SayInspected();
  SayInspected();
  SayCommitted();
  EndHost();
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_CLOSE_PANE), IsEmpty());
}

TEST_F(CloseDeskTest, TheConfigIsThePublicRecordOfEachState) {
  const std::string before = ReadText(ConfigPath(root_));
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  EXPECT_THAT(Published(), HasSubstr("\"state\": \"awaiting_handoff\""));
  ASSERT_THAT(Report("the \"rest\" is open"), IsOk());
  const std::string reported = ReadText(ConfigPath(root_));
  EXPECT_THAT(reported, HasSubstr("\"state\": \"awaiting_settlement\""));
  EXPECT_THAT(reported, HasSubstr("\"summary\": \"the \\\"rest\\\" is open\""));
  SaySettled();
  SayInspected();
  EXPECT_THAT(Published(), HasSubstr("\"state\": \"closing\""));
  SayInspected();
  SayCommitted();
  EndHost();
  SayPaneClosed();
  const std::string after = Published();
  EXPECT_THAT(after, HasSubstr("\"state\": \"closed\""));
  EXPECT_THAT(after, Not(HasSubstr("%7")));
  EXPECT_THAT(after, HasSubstr("\"future\": [1.10]"));
  EXPECT_EQ(after.substr(0, before.find("w-1")),
            before.substr(0, before.find("w-1")));
}

// --- The request

TEST_F(CloseDeskTest, ARepeatWhileItIsPendingIsTheSameJob) {
  Begin();
  const auto again = Close("w-1");
  ASSERT_THAT(again, IsOk());
  EXPECT_TRUE(again->existed());
  EXPECT_EQ(again->job().job_id(), job_id_);
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_PREPARE_CLOSE), SizeIs(1));
}

TEST_F(CloseDeskTest, TwoRequestsAtOnceAreOneJob) {
  v1::CloseWorkerRequest request;
  request.set_to("Reviewer");
  const auto first = Post<v1::CloseWorkerResponse>(
      closes_, &CloseDesk::Close, CallOf(coordinator_), request);
  const auto second = Post<v1::CloseWorkerResponse>(
      closes_, &CloseDesk::Close, CallOf(coordinator_), request);
  ASSERT_THAT(first.Wait(), IsOk());
  ASSERT_THAT(second.Wait(), IsOk());
  EXPECT_EQ(first.Wait()->job().job_id(), second.Wait()->job().job_id());
  EXPECT_NE(first.Wait()->existed(), second.Wait()->existed());
}

TEST_F(CloseDeskTest, OnlyTheCoordinatorClosesAndOnlyWorkers) {
  v1::CloseWorkerRequest request;
  request.set_to("Reviewer");
  EXPECT_THAT(Ask<v1::CloseWorkerResponse>(closes_, &CloseDesk::Close,
                                           CallOf(worker_), request),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  EXPECT_THAT(Close("Coordinator"),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
  EXPECT_THAT(Close("Nobody"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
  const auto away = Close("Builder");
  EXPECT_THAT(away,
              FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_AWAY"));
  EXPECT_THAT(MessageOf(away.status()), HasSubstr("intercom_resume_worker"));
}

TEST_F(CloseDeskTest, AHostThatIsNotVerifiedIsRefusedBeforeAnything) {
  v1::Hello hello = WorkerHello("w-2");
  hello.clear_capabilities();
  hello.add_capabilities("stop");
  const TestSession builder = JoinAs(hello);
  EXPECT_THAT(Close("Builder"), FailsWith(absl::StatusCode::kFailedPrecondition,
                                          "HOST_NOT_VERIFIED"));
  EXPECT_THAT(builder.link->Of(v1::AttachResponse::kControl), IsEmpty());
  EXPECT_THAT(OnState([&] { return job_store_.Open().value(); }), IsEmpty());
}

TEST_F(CloseDeskTest, SixteenClosesOfAWorkspaceArePendingAtMost) {
  std::vector<TestAgent> team = {{"c-1", "Coordinator"}, {"w-1", "Reviewer"}};
  for (int i = 0; i < 17; ++i) {
    team.push_back({"x-" + std::to_string(i), "X" + std::to_string(i)});
  }
  WriteConfig(root_, ConfigText(team));
  std::vector<TestSession> workers;
  for (int i = 0; i < 17; ++i) {
    workers.push_back(JoinWorker("x-" + std::to_string(i)));
  }
  for (int i = 0; i < 16; ++i) {
    EXPECT_THAT(Close("X" + std::to_string(i)), IsOk());
  }
  EXPECT_THAT(Close("X16"),
              FailsWith(absl::StatusCode::kResourceExhausted, "JOBS_FULL"));
  EXPECT_TRUE(Close("X3")->existed());
  // One that ends makes room.
  Detach(workers[0]);
  EXPECT_THAT(Close("X16"), IsOk());
}

TEST_F(CloseDeskTest, ACloseThatCannotBeStoredDoesNothing) {
  v1::CloseWorkerRequest request;
  request.set_to("Reviewer");
  const auto workspaces = ReadConfigNow();
  ASSERT_THAT(workspaces, IsOk());
  EXPECT_THAT(OnState([&] {
                return runner_->database().Execute(
                    "CREATE TEMP TRIGGER full BEFORE INSERT ON main.jobs "
                    "BEGIN SELECT RAISE(ABORT, 'no room'); END");
              }),
              IsOk());
  EXPECT_FALSE(Close().ok());
  EXPECT_THAT(worker_.link->Of(v1::AttachResponse::kControl), IsEmpty());
  EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
}

// --- The fence

TEST_F(CloseDeskTest, AFencedWorkerSendsNothing) {
  Begin();
  EXPECT_THAT(
      Send(CallOf(worker_), "Coordinator", Message("e1")),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
  EXPECT_THAT(NoticesOf(""), IsEmpty());
}

TEST_F(CloseDeskTest, MailToAFencedWorkerWaitsUntilTheFenceFalls) {
  Begin();
  const auto record = Send(CallOf(coordinator_), "Reviewer", Message("e1"));
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_CLOSING);
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
  AnswerLast(worker_, Control::KIND_PREPARE_CLOSE, Refusal("not now"));
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_THAT(worker_.link->texts(), ElementsAre("text of e1"));
}

TEST_F(CloseDeskTest, TheHostIsToldToTakeMailBeforeItFlows) {
  Begin();
  ASSERT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  AnswerLast(worker_, Control::KIND_PREPARE_CLOSE, Refusal("not now"));
  std::vector<std::string> order;
  for (const auto& frame : worker_.link->frames()) {
    if (frame.has_delivery()) order.push_back("mail");
    if (frame.has_control() &&
        frame.control().kind() == Control::KIND_END_CLOSE) {
      EXPECT_EQ(frame.control().job_id(), job_id_);
      order.push_back("end");
    }
  }
  EXPECT_THAT(order, ElementsAre("end", "mail"));
}

TEST_F(CloseDeskTest, AFencedWorkerIsNeitherConfiguredNorReloaded) {
  const std::string before = Published();
  Begin();
  v1::ConfigureWorkerRequest configure;
  configure.set_session_id("w-1");
  configure.set_name("Other");
  configure.set_description("d");
  const auto configured =
      Call(&WorkerDesk::Configure, CallOf(coordinator_), configure);
  EXPECT_THAT(configured, FailsWith(absl::StatusCode::kFailedPrecondition,
                                    "WORKER_FENCED"));
  EXPECT_THAT(MessageOf(configured.status()), HasSubstr(job_id_.substr(0, 8)));
  v1::ReloadWorkerRequest reload;
  reload.set_to("Reviewer");
  EXPECT_THAT(
      Call(&WorkerDesk::Reload, CallOf(coordinator_), reload),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
  EXPECT_THAT(Published(), Not(HasSubstr("Other")));
}

TEST_F(CloseDeskTest, TheStatusOfAFencedWorkerIsAllowedAndNamesTheJob) {
  Begin();
  v1::RequestStatusRequest request;
  request.set_to("Reviewer");
  const auto status =
      Call(&WorkerDesk::RequestStatus, CallOf(coordinator_), request);
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->entry().job().job_id(), job_id_);
  EXPECT_EQ(status->entry().job().state(), v1::Job::STATE_REQUESTED);
  v1::ReportStatusRequest report;
  EXPECT_THAT(Call(&WorkerDesk::ReportStatus, CallOf(worker_), report), IsOk());
}

TEST_F(CloseDeskTest, WhatTheFileSaysOfACloseFencesNothing) {
  std::string text = ReadText(ConfigPath(root_));
  const std::string anchor = "\"projectDirectory\": \".\"";
  text.insert(text.find(anchor, text.find("Reviewer")) + anchor.size(),
              ",\n      \"closeJob\": {\"jobId\": \"j\", \"state\": "
              "\"closing\", \"createdAt\": \"2026-01-31T12:00:00Z\", "
              "\"updatedAt\": \"2026-01-31T12:00:00Z\", \"deadlineAt\": "
              "\"2026-01-31T12:02:00Z\"}");
  WriteConfig(root_, text);
  EXPECT_THAT(Send(CallOf(worker_), "Coordinator", Message("e1")), IsOk());
  EXPECT_THAT(Close(), IsOk());
}

// --- The handoff

TEST_F(CloseDeskTest, AHandoffIsReportedOnceAndItsRepeatIsHarmless) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  ASSERT_THAT(Report("one"), IsOk());
  EXPECT_THAT(Report("one"), IsOk());
  EXPECT_THAT(Report("two"),
              FailsWith(absl::StatusCode::kAlreadyExists, "HANDOFF_DIFFERS"));
  EXPECT_EQ(
      OnState([&] { return handoffs_.Find(root_, "w-1").value()->summary(); }),
      "one");
}

TEST_F(CloseDeskTest, AnOlderFilePutInItsPlaceGetsTheHandoffBack) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  const std::string before = Published();
  ASSERT_THAT(Report("all is done"), IsOk());
  WriteConfig(root_, before);
  SaySettled();
  EXPECT_THAT(Published(),
              ::testing::AllOf(HasSubstr("\"summary\": \"all is done\""),
                               HasSubstr("\"state\": \"ready\"")));
}

TEST_F(CloseDeskTest, TwoReportsAtOnceSaveOne) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  const auto first = PostReport("one");
  const auto second = PostReport("two");
  const bool is_first = first.Wait().ok();
  EXPECT_NE(is_first, second.Wait().ok());
  EXPECT_THAT(ReadText(ConfigPath(root_)), HasSubstr("\"summary\": \"one\""));
}

TEST_F(CloseDeskTest, OnlyTheWorkerThatWasAskedReports) {
  const TestSession other = JoinWorker("w-2");
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  v1::ReportHandoffRequest request;
  request.set_job_id(job_id_);
  request.set_summary("mine");
  EXPECT_THAT(Ask<v1::ReportHandoffResponse>(closes_, &CloseDesk::ReportHandoff,
                                             CallOf(other), request),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_JOB"));
  EXPECT_THAT(Ask<v1::ReportHandoffResponse>(closes_, &CloseDesk::ReportHandoff,
                                             CallOf(coordinator_), request),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

TEST_F(CloseDeskTest, AHandoffThatNobodyAskedForIsRefused) {
  Begin();
  EXPECT_THAT(Report(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                  "HANDOFF_NOT_AWAITED"));
  AnswerLast(worker_, Control::KIND_PREPARE_CLOSE, Refusal("not now"));
  EXPECT_THAT(Report(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "JOB_ENDED"));
}

TEST_F(CloseDeskTest, AHandoffHasAnUpperAndALowerBound) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  std::string wide;
  for (int i = 0; i < 4000; ++i) wide += "\xC3\xA4";
  for (const std::string& wrong :
       {std::string(), std::string(" \n"), wide + "x", std::string("\xFF")}) {
    EXPECT_THAT(Report(wrong), FailsWith(absl::StatusCode::kInvalidArgument,
                                         "SUMMARY_INVALID"));
  }
  EXPECT_THAT(Report(wide), IsOk());
}

TEST_F(CloseDeskTest, TheHandoffRequestPassesAFullWindow) {
  for (int i = 0; i < 40; ++i) {
    ASSERT_THAT(Send(CallOf(coordinator_), "Reviewer",
                     Message("e" + std::to_string(i))),
                IsOk());
  }
  EXPECT_THAT(worker_.link->deliveries(), SizeIs(32));
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  ASSERT_THAT(worker_.link->deliveries(), SizeIs(33));
  EXPECT_EQ(worker_.link->deliveries()[32].envelope().topic(),
            "HANDOFF_REQUEST");
}

}  // namespace
}  // namespace intercom
