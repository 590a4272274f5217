// How closes end that don't go all the way.

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/work/close_desk.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/work/close_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class CloseFailuresTest : public CloseRig {
 protected:
  // For longer than a host may take to end.
  void AwaitHostInVain() {
    for (int i = 0; i < 4; ++i) Advance(absl::Seconds(4));
  }
  void ExpectUncertain(const std::string& reason = "close_unverified") {
    EXPECT_EQ(State(), v1::Job::STATE_UNCERTAIN);
    EXPECT_EQ(Reason(), reason);
    EXPECT_THAT(
        fences_.Check(root_, "w-1"),
        FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
    EXPECT_THAT(ControlsOf(worker_, Control::KIND_END_CLOSE), IsEmpty());
    ASSERT_THAT(NoticesOf("CLOSE"), SizeIs(1));
    EXPECT_THAT(NoticesOf("CLOSE")[0],
                HasSubstr("intercom job resolve " + job_id_));
  }
};

// --- Identity

TEST_F(CloseFailuresTest, SelfMovedReplacedOrReusedHostsAreNeverClosed) {
  const auto changes = std::vector<std::function<void(v1::HostIdentity&)>>{
      [](v1::HostIdentity& identity) { identity.set_session_id("c-1"); },
      [](v1::HostIdentity& identity) { identity.clear_session_id(); },
      [](v1::HostIdentity& identity) { identity.set_host_pid(1); },
      [](v1::HostIdentity& identity) { identity.clear_host_pid(); },
      [](v1::HostIdentity& identity) { identity.set_host_start_ticks(7); },
      [](v1::HostIdentity& identity) { identity.clear_host_start_ticks(); }};
  for (size_t i = 0; i < changes.size(); ++i) {
    Begin();
    v1::HostIdentity identity = Identity();
    changes[i](identity);
    SayPrepared(identity);
    EXPECT_EQ(State(), v1::Job::STATE_FAILED) << i;
    EXPECT_EQ(Reason(), "identity_failed") << i;
  }
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_INSPECT_HOST), IsEmpty());
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(CloseFailuresTest, AHostWhoseStartNobodyKnowsIsNotClosed) {
  v1::Hello hello = WorkerHello("w-2");
  hello.clear_host_start_ticks();
  const TestSession builder = JoinAs(hello);
  job_id_ = Close("Builder")->job().job_id();
  v1::ControlResult result = Ok();
  result.mutable_identity()->set_session_id("w-2");
  result.mutable_identity()->set_host_pid(hello.host_pid());
  AnswerLast(builder, Control::KIND_PREPARE_CLOSE, result);
  EXPECT_EQ(Reason(), "identity_failed");
}

TEST_F(CloseFailuresTest, WhatTheCoordinatorCannotConfirmIsNotClosed) {
  Begin();
  SayPrepared(Identity());
  AnswerLast(coordinator_, Control::KIND_INSPECT_HOST,
             Refusal("the pane moved"));
  ExpectOver(v1::Job::STATE_FAILED, "identity_failed");
  EXPECT_THAT(JobOf(job_id_).detail, HasSubstr("the pane moved"));
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(CloseFailuresTest, WithoutACoordinatorNothingIsClosed) {
  Begin();
  Detach(coordinator_);
  SayPrepared(Identity());
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_EQ(Reason(), "identity_failed");
}

TEST_F(CloseFailuresTest, ACoordinatorThatSaysNothingConfirmsNothing) {
  Begin();
  SayPrepared(Identity());
  Advance(CloseDesk::kPaneWithin);
  ExpectOver(v1::Job::STATE_FAILED, "identity_failed");
}

TEST_F(CloseFailuresTest, AHostThatDoesNotAnswerIsLeftAlone) {
  Begin();
  Advance(CloseDesk::kAnswerWithin);
  ExpectOver(v1::Job::STATE_FAILED, "delivery_failed");
}

TEST_F(CloseFailuresTest, AHostThatMovedSinceItWasPreparedIsNotClosed) {
  for (const bool last : {false, true}) {
    DriveTo(last ? v1::Job::STATE_CLOSING : v1::Job::STATE_READY);
    AnswerLast(coordinator_, Control::KIND_INSPECT_HOST,
               Refusal("another process runs there"));
    EXPECT_EQ(State(), v1::Job::STATE_FAILED);
    EXPECT_EQ(Reason(), "identity_failed");
  }
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
}

// --- The handoff and its settlement

TEST_F(CloseFailuresTest, AFailedSaveBlocksReadiness) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  // A config that has room for the job, but not for the handoff.
  std::string full = Published();
  full.insert(full.find("\"future\""), "\"pad\": \"\",\n  ");
  full.insert(full.find("\"pad\": \"") + 8,
              std::string((4 << 20) - 500 - full.size(), 'x'));
  WriteConfig(root_, full);
  EXPECT_THAT(Report(std::string(4000, 's')),
              FailsWith(absl::StatusCode::kAborted, "HANDOFF_NOT_SAVED"));
  ExpectOver(v1::Job::STATE_FAILED, "save_failed");
  SaySettled();
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  const std::string after = Published();
  EXPECT_THAT(after, Not(HasSubstr("handoff\": {")));
  EXPECT_THAT(after, HasSubstr("\"reason\": \"save_failed\""));
}

TEST_F(CloseFailuresTest, AWorkerWithoutAnEntryReportsNothing) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  EXPECT_THAT(Report(), FailsWith(absl::StatusCode::kPermissionDenied,
                                  "ANONYMOUS_SENDER"));
  EXPECT_EQ(State(), v1::Job::STATE_AWAITING_HANDOFF);
}

TEST_F(CloseFailuresTest, AStoreThatCannotTakeTheHandoffFailsTheJob) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  BreakStorage(v1::Job::STATE_AWAITING_SETTLEMENT);
  EXPECT_THAT(Report(),
              FailsWith(absl::StatusCode::kAborted, "HANDOFF_NOT_SAVED"));
  ExpectOver(v1::Job::STATE_FAILED, "save_failed");
  // What the config was told meanwhile is put right.
  EXPECT_THAT(Published(), HasSubstr("\"state\": \"failed\""));
}

TEST_F(CloseFailuresTest, ANewTurnAfterTheHandoffInvalidatesTheJobForGood) {
  for (const auto state :
       {v1::Job::STATE_AWAITING_SETTLEMENT, v1::Job::STATE_READY}) {
    DriveTo(state);
    SayEvent(worker_, job_id_, v1::JobEvent::EVENT_INVALIDATED,
             "a person wrote");
    EXPECT_EQ(State(), v1::Job::STATE_FAILED);
    EXPECT_EQ(Reason(), "commit_rejected");
    EXPECT_THAT(JobOf(job_id_).detail,
                HasSubstr("input came after the handoff: a person wrote"));
    SaySettled();
    EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  }
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
}

TEST_F(CloseFailuresTest, ANewTurnBeforeTheCommitRejectsIt) {
  DriveToCommit();
  AnswerLast(worker_, Control::KIND_COMMIT_CLOSE, Refusal("a turn began"));
  ExpectOver(v1::Job::STATE_FAILED, "commit_rejected");
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_END_CLOSE), SizeIs(1));
}

TEST_F(CloseFailuresTest, SettlingWithoutAHandoffMeansNothing) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  SaySettled();
  EXPECT_EQ(State(), v1::Job::STATE_AWAITING_HANDOFF);
}

TEST_F(CloseFailuresTest, AnotherSessionSaysNothingOfTheJob) {
  const TestSession other = JoinWorker("w-2");
  DriveTo(v1::Job::STATE_AWAITING_SETTLEMENT);
  SayEvent(other, job_id_, v1::JobEvent::EVENT_SETTLED);
  EXPECT_EQ(State(), v1::Job::STATE_AWAITING_SETTLEMENT);
}

// --- The end of the host

TEST_F(CloseFailuresTest, ACommitWithoutAnAnswerIsUncertainWhileTheHostRuns) {
  DriveToCommit();
  Advance(CloseDesk::kAnswerWithin);
  AwaitHostInVain();
  ExpectUncertain();
}

TEST_F(CloseFailuresTest, ACommitOverWhichTheAgentWentAwayIsUncertain) {
  DriveToCommit();
  Detach(worker_);
  AwaitHostInVain();
  ExpectUncertain();
}

TEST_F(CloseFailuresTest, ACommitOverWhichTheHostEndedIsAClose) {
  DriveToCommit();
  processes_.End(host_pid_);
  Detach(worker_);
  Advance(ProcessWatch::kEvery);
  SayPaneClosed();
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(CloseFailuresTest, ACoordinatorThatIsReloadedIsAskedAgain) {
  DriveTo(v1::Job::STATE_AWAITING_SETTLEMENT);
  SaySettled();
  Detach(coordinator_, v1::Goodbye::REASON_RELOAD);
  coordinator_ = Join("c-1");
  Advance(CloseDesk::kAskAgain);
  SayInspected();
  EXPECT_EQ(State(), v1::Job::STATE_CLOSING);
}

TEST_F(CloseFailuresTest, ACoordinatorThatLeavesIsNotWaitedFor) {
  DriveTo(v1::Job::STATE_AWAITING_SETTLEMENT);
  SaySettled();
  Detach(coordinator_, v1::Goodbye::REASON_QUIT);
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_EQ(Reason(), "identity_failed");
}

TEST_F(CloseFailuresTest, ACommitWithAnotherNonceIsUncertain) {
  DriveToCommit();
  v1::ControlResult result = Ok();
  result.set_nonce("guess");
  AnswerLast(worker_, Control::KIND_COMMIT_CLOSE, result);
  ExpectUncertain();
}

TEST_F(CloseFailuresTest, AHostThatDoesNotEndIsUncertainAndItsPaneStays) {
  DriveToCommit();
  SayCommitted();
  AwaitHostInVain();
  ExpectUncertain();
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_CLOSE_PANE), IsEmpty());
}

TEST_F(CloseFailuresTest, AGonePaneIsNoEndedWorker) {
  DriveToCommit();
  SayCommitted();
  // The session leaves, and whatever shows it is gone; its process runs on.
  Detach(worker_, v1::Goodbye::REASON_QUIT);
  for (int i = 0; i < 4; ++i) Advance(absl::Seconds(4));
  ExpectUncertain();
}

TEST_F(CloseFailuresTest, AnotherProcessOfTheSameIdIsTheEndOfTheFirst) {
  DriveToCommit();
  SayCommitted();
  processes_.Start(host_pid_, 1);
  Advance(ProcessWatch::kEvery);
  SayPaneClosed();
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
}

TEST_F(CloseFailuresTest, APaneThatStaysIsUncertain) {
  DriveToCommit();
  SayCommitted();
  EndHost();
  SayPaneClosed(/*is_gone=*/false);
  ExpectUncertain();
}

TEST_F(CloseFailuresTest, APaneThatNobodyCanCloseIsUncertain) {
  DriveToCommit();
  SayCommitted();
  Detach(coordinator_);
  EndHost();
  EXPECT_EQ(State(), v1::Job::STATE_UNCERTAIN);
  EXPECT_EQ(Reason(), "close_unverified");
}

TEST_F(CloseFailuresTest, AnUncertainCloseFencesAcrossAttachments) {
  DriveToCommit();
  Advance(CloseDesk::kAnswerWithin);
  Detach(worker_);
  AwaitHostInVain();
  const TestSession back = JoinWorker();
  ASSERT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_THAT(back.link->deliveries(), IsEmpty());
  EXPECT_EQ(RecordOf("c-1/e1").wait_reason(), v1::WAIT_REASON_CLOSING);
  EXPECT_THAT(Close(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "WORKER_FENCED"));
}

// --- Time

TEST_F(CloseFailuresTest, TheDeadlineNeverCloses) {
  for (const auto state :
       {v1::Job::STATE_AWAITING_HANDOFF, v1::Job::STATE_AWAITING_SETTLEMENT}) {
    DriveTo(state);
    Advance(CloseDesk::kDeadline);
    EXPECT_EQ(State(), v1::Job::STATE_TIMED_OUT);
    EXPECT_EQ(Reason(), "timeout");
    EXPECT_THAT(Published(), HasSubstr("\"state\": \"timed_out\""));
    // What comes late changes nothing.
    SaySettled();
    EXPECT_EQ(State(), v1::Job::STATE_TIMED_OUT);
  }
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_END_CLOSE), SizeIs(2));
  EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
}

TEST_F(CloseFailuresTest, TheRequestOfACloseThatIsOverIsTakenBack) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  Advance(CloseDesk::kDeadline);
  const auto withdrawn = worker_.link->Of(v1::AttachResponse::kWithdraw);
  ASSERT_THAT(withdrawn, SizeIs(1));
  EXPECT_EQ(withdrawn[0].withdraw().delivery_id(), "broker/" + job_id_);
}

// --- Hosts that leave

TEST_F(CloseFailuresTest, AReloadInterruptsAndNothingIsRepeated) {
  for (const auto state :
       {v1::Job::STATE_REQUESTED, v1::Job::STATE_AWAITING_HANDOFF,
        v1::Job::STATE_AWAITING_SETTLEMENT, v1::Job::STATE_READY,
        v1::Job::STATE_CLOSING}) {
    DriveTo(state);
    Detach(worker_, v1::Goodbye::REASON_RELOAD);
    EXPECT_EQ(State(), v1::Job::STATE_INTERRUPTED);
    EXPECT_EQ(Reason(), "interrupted");
    EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
    worker_ = JoinWorker();
    EXPECT_THAT(worker_.link->Of(v1::AttachResponse::kControl), IsEmpty());
    EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
  }
}

TEST_F(CloseFailuresTest, AHostThatLostSightOfTheBrokerIsToldThatItIsOver) {
  DriveTo(v1::Job::STATE_AWAITING_HANDOFF);
  Detach(worker_);
  v1::Hello hello = WorkerHello("w-1");
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  worker_ = JoinAs(hello);
  const auto ends = ControlsOf(worker_, Control::KIND_END_CLOSE);
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].job_id(), job_id_);
}

TEST_F(CloseFailuresTest, AReplacedHostCannotCommit) {
  DriveTo(v1::Job::STATE_READY);
  const TestSession old = worker_;
  Detach(worker_, v1::Goodbye::REASON_RELOAD);
  worker_ = JoinWorker();
  SayInspected();
  EXPECT_EQ(State(), v1::Job::STATE_INTERRUPTED);
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
  // Nor does the word of the old one count.
  SayEvent(old, job_id_, v1::JobEvent::EVENT_SETTLED);
  EXPECT_EQ(State(), v1::Job::STATE_INTERRUPTED);
}

TEST_F(CloseFailuresTest, TheHostMayLeaveOnceItWasToldTo) {
  DriveToCommit();
  SayCommitted();
  Detach(worker_, v1::Goodbye::REASON_QUIT);
  EXPECT_EQ(State(), v1::Job::STATE_CLOSING);
}

// --- The store

TEST_F(CloseFailuresTest, AStateThatCannotBeStoredIsNotLeftBehind) {
  struct Case {
    v1::Job::State broken;
    const char* reason;
  };
  for (const Case& broken :
       {Case{v1::Job::STATE_AWAITING_HANDOFF, "delivery_failed"},
        Case{v1::Job::STATE_READY, "save_failed"},
        Case{v1::Job::STATE_CLOSING, "save_failed"}}) {
    BreakStorage(broken.broken);
    DriveTo(std::min(broken.broken, v1::Job::STATE_READY));
    if (broken.broken == v1::Job::STATE_CLOSING) SayInspected();
    EXPECT_EQ(State(), v1::Job::STATE_FAILED);
    EXPECT_EQ(Reason(), broken.reason);
    EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
    MendStorage();
  }
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
}

TEST_F(CloseFailuresTest, AnEndThatCannotBeStoredIsTriedAgainAndNothingElse) {
  DriveToCommit();
  BreakStorage(v1::Job::STATE_SUCCEEDED);
  SayCommitted();
  EndHost();
  SayPaneClosed();
  EXPECT_EQ(State(), v1::Job::STATE_CLOSING);
  Advance(Jobs::kEndAgain);
  EXPECT_EQ(State(), v1::Job::STATE_CLOSING);
  EXPECT_THAT(
      fences_.Check(root_, "w-1"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "WORKER_FENCED"));
  MendStorage();
  Advance(Jobs::kEndAgain);
  EXPECT_EQ(State(), v1::Job::STATE_SUCCEEDED);
  EXPECT_THAT(ControlsOf(coordinator_, Control::KIND_CLOSE_PANE), SizeIs(1));
}

TEST_F(CloseFailuresTest, AnEndThatIsOnItsWayLetsNothingFollow) {
  DriveTo(v1::Job::STATE_CLOSING);
  BreakStorage(v1::Job::STATE_TIMED_OUT);
  // Inspections may take 10 s; this one is answered after the deadline.
  const auto inspect = ControlsOf(coordinator_, Control::KIND_INSPECT_HOST);
  OnState([&] {
    clock_.Advance(CloseDesk::kDeadline);
    return true;
  });
  Sync();
  v1::ControlResult late = Ok();
  late.set_control_id(inspect.back().control_id());
  controls_.OnResult(coordinator_.key, late);
  Sync();
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
  MendStorage();
}

// --- The public record

TEST_F(CloseFailuresTest,
       ARecordThatCannotBeWrittenChangesNoJobAndIsMadeUpFor) {
  const std::string good = Published();
  Begin();
  Published();
  WriteConfig(root_, "<<<<<<< merge");
  SayPrepared(Identity());
  SayInspected();
  EXPECT_EQ(State(), v1::Job::STATE_AWAITING_HANDOFF);
  EXPECT_FALSE(ReadConfigNow().ok());
  WriteConfig(root_, good);
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(Published(), HasSubstr("\"state\": \"awaiting_handoff\""));
}

TEST_F(CloseFailuresTest, ARecordWithoutAnEntryIsGivenUp) {
  Begin();
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  AnswerLast(worker_, Control::KIND_PREPARE_CLOSE, Refusal("no"));
  EXPECT_EQ(State(), v1::Job::STATE_FAILED);
  EXPECT_THAT(Published(), Not(HasSubstr("closeJob")));
}

// --- Restarts

TEST_F(CloseFailuresTest, ARestartInterruptsWhatIsPendingAndRepeatsNothing) {
  for (const auto state :
       {v1::Job::STATE_REQUESTED, v1::Job::STATE_AWAITING_HANDOFF,
        v1::Job::STATE_AWAITING_SETTLEMENT, v1::Job::STATE_READY}) {
    JobRow job;
    job.job_id = job_id_ = "left-" + std::to_string(state);
    job.kind = v1::Job::KIND_CLOSE;
    job.root = root_;
    job.session_id = "w-1";
    job.name = "Reviewer";
    job.state = state;
    job.created_at = job.updated_at = clock_.Now();
    job.deadline_at = clock_.Now() + absl::Seconds(120);
    Leave(job);
    StartAnew();
    EXPECT_EQ(State(), v1::Job::STATE_INTERRUPTED);
    EXPECT_EQ(Reason(), "interrupted");
    EXPECT_THAT(fences_.Check(root_, "w-1"), IsOk());
    EXPECT_THAT(Published(), HasSubstr("\"state\": \"interrupted\""));
  }
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_PREPARE_CLOSE), IsEmpty());
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(CloseFailuresTest, AnEndThatWasNotToldIsToldAtTheNextStartOnce) {
  for (const auto state : {v1::Job::STATE_TIMED_OUT, v1::Job::STATE_SUCCEEDED,
                           v1::Job::STATE_UNCERTAIN}) {
    JobRow job;
    job.job_id = "left-" + std::to_string(state);
    job.kind = v1::Job::KIND_CLOSE;
    job.root = root_;
    job.session_id = "w-1";
    job.name = "Reviewer";
    job.state = state;
    job.created_at = job.updated_at = clock_.Now();
    Leave(job);
    const size_t before = NoticesOf("CLOSE").size();
    StartAnew();
    EXPECT_THAT(NoticesOf("CLOSE"), SizeIs(before + 1));
    StartAnew();
    EXPECT_THAT(NoticesOf("CLOSE"), SizeIs(before + 1));
  }
}

TEST_F(CloseFailuresTest, ARestartMakesAPersistedClosingUncertainAndFenced) {
  JobRow job;
  job.job_id = job_id_ = "left-closing";
  job.kind = v1::Job::KIND_CLOSE;
  job.root = root_;
  job.session_id = "w-1";
  job.name = "Reviewer";
  job.state = v1::Job::STATE_CLOSING;
  job.created_at = job.updated_at = clock_.Now();
  job.deadline_at = clock_.Now() + absl::Seconds(120);
  Leave(job);
  StartAnew();
  ExpectUncertain("interrupted");
  EXPECT_THAT(Published(), HasSubstr("\"state\": \"uncertain\""));
  ASSERT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
  EXPECT_THAT(ControlsOf(worker_, Control::KIND_COMMIT_CLOSE), IsEmpty());
}

}  // namespace
}  // namespace intercom
