#include "broker/work/run_waits.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/run_rig.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class RunWaitsTest : public RunRig {
 protected:
  using WaitAnswer = Answer<absl::StatusOr<v1::AwaitRunsResponse>>;

  WaitAnswer Await(const TestSession& session,
                   const std::vector<std::string>& ids = {},
                   absl::Duration wait = absl::Seconds(30),
                   int64_t* ticket = nullptr) {
    v1::AwaitRunsRequest request;
    for (const std::string& id : ids) request.add_run_ids(id);
    *request.mutable_wait() = ToProtoDuration(wait);
    WaitAnswer answer;
    const int64_t number =
        run_waits_.AwaitRuns(CallOf(session), request, answer.Callback());
    if (ticket != nullptr) *ticket = number;
    Sync();
    return answer;
  }
  absl::StatusOr<v1::DeliveryRecord> Ask(const TestSession& asker,
                                         const std::string& to,
                                         const std::string& id) {
    v1::Envelope ask = Message(id);
    ask.set_kind(v1::ENVELOPE_KIND_ASK);
    return Send(CallOf(asker), to, ask);
  }
};

TEST_F(RunWaitsTest, AWaitEndsWhenAllOfItsRunsHaveSettled) {
  const std::string first = OpenRunning("e-1");
  const std::string second = OpenRunning("e-2");
  const WaitAnswer answer = Await(coordinator_);
  SayDone(first, "one");
  EXPECT_EQ(answer.count(), 0);
  SayDone(second, "two");
  const auto waited = answer.Wait();
  ASSERT_THAT(waited, IsOk());
  ASSERT_THAT(waited->settled(), SizeIs(2));
  EXPECT_EQ(waited->settled(0).result().text(), "one");
  EXPECT_THAT(waited->open(), IsEmpty());
}

TEST_F(RunWaitsTest, AWaitForOneRunIsNotEndedByAnother) {
  const std::string first = OpenRunning("e-1");
  const std::string one = run_id_;
  const std::string second = OpenRunning("e-2");
  const WaitAnswer answer = Await(coordinator_, {one});
  SayDone(second);
  EXPECT_EQ(answer.count(), 0);
  SayDone(first);
  EXPECT_THAT(answer.Wait()->settled(), SizeIs(1));
}

TEST_F(RunWaitsTest, ATimeoutGivesWhatSettledAndWhatStillRuns) {
  const std::string first = OpenRunning("e-1");
  OpenRunning("e-2");
  SayDone(first);
  const WaitAnswer answer = Await(coordinator_, {}, absl::Seconds(5));
  Pass(absl::Seconds(5));
  const auto waited = answer.Wait();
  ASSERT_THAT(waited, IsOk());
  EXPECT_THAT(waited->settled(), SizeIs(1));
  EXPECT_THAT(waited->open(), SizeIs(1));
  EXPECT_FALSE(waited->has_ask());
}

TEST_F(RunWaitsTest, WhatHasSettledIsAnsweredAtOnce) {
  SayDone(OpenRunning("e-1"));
  EXPECT_THAT(Await(coordinator_, {run_id_}).Wait()->settled(), SizeIs(1));
  SayTold(coordinator_, Told::kCollected, {run_id_});
  EXPECT_THAT(Await(coordinator_).Wait()->settled(), IsEmpty());
}

TEST_F(RunWaitsTest, AWaitWhoseCallerLeftIsForgotten) {
  const std::string id = OpenRunning("e-1");
  int64_t ticket = 0;
  const WaitAnswer answer = Await(coordinator_, {}, absl::Seconds(30), &ticket);
  run_waits_.CancelWait(ticket);
  EXPECT_THAT(answer.Wait(), FailsWith(StatusCode::kCancelled, "CANCELLED"));
  SayDone(id);
  EXPECT_EQ(answer.count(), 1);
}

TEST_F(RunWaitsTest, ADrainingBrokerAnswersAtOnce) {
  OpenRunning("e-1");
  const WaitAnswer answer = Await(coordinator_);
  run_waits_.Drain();
  EXPECT_THAT(answer.Wait()->open(), SizeIs(1));
  EXPECT_THAT(Await(coordinator_).Wait()->open(), SizeIs(1));
}

TEST_F(RunWaitsTest, WaitsAreBounded) {
  OpenRunning("e-1");
  EXPECT_THAT(Await(coordinator_, {}, absl::Seconds(31)).Wait(),
              FailsWith(StatusCode::kInvalidArgument, "WAIT_INVALID"));
  EXPECT_THAT(Await(coordinator_, std::vector<std::string>(65, run_id_)).Wait(),
              FailsWith(StatusCode::kInvalidArgument, "WAIT_INVALID"));
  EXPECT_THAT(Await(coordinator_, {"run-999"}).Wait(),
              FailsWith(StatusCode::kNotFound, "UNKNOWN_RUN"));
  std::vector<WaitAnswer> waiting;
  for (size_t i = 0; i < RunWaits::kMaxOfCaller; ++i) {
    waiting.push_back(Await(coordinator_));
  }
  EXPECT_THAT(Await(coordinator_).Wait(),
              FailsWith(StatusCode::kResourceExhausted, "WAITS_FULL"));
  run_waits_.Drain();
  Sync();
}

TEST_F(RunWaitsTest, AWaitSaysHowManyRunsItLeftOut) {
  for (int i = 0; i < RunWaits::kMaxRuns + 3; ++i) {
    SayDone(OpenRunning("e-" + std::to_string(i)));
  }
  const auto waited = Await(coordinator_).Wait();
  ASSERT_THAT(waited, IsOk());
  EXPECT_THAT(waited->settled(), SizeIs(RunWaits::kMaxRuns));
  EXPECT_EQ(waited->left_out(), 3);
  EXPECT_EQ(Await(coordinator_, {run_id_}).Wait()->left_out(), 0);
}

TEST_F(RunWaitsTest, AWaitOverMoreThan64RunsJoinsTheOpenOnesAndLosesNone) {
  std::vector<std::string> told;
  for (int i = 0; i < 5; ++i) {
    SayDone(OpenRunning("settled-" + std::to_string(i)));
    told.push_back(run_id_);
  }
  std::vector<std::string> open;
  for (size_t i = 0; i < Runs::kMaxOpen; ++i) {
    open.push_back(OpenRunning("open-" + std::to_string(i)));
  }
  const WaitAnswer first = Await(coordinator_);
  for (const std::string& id : open) {
    EXPECT_EQ(first.count(), 0);
    SayDone(id);
  }
  const auto joined = first.Wait();
  ASSERT_THAT(joined, IsOk());
  ASSERT_THAT(joined->settled(), SizeIs(64));
  EXPECT_THAT(joined->open(), IsEmpty());
  std::vector<std::string> ids;
  for (const v1::SettledRun& run : joined->settled()) {
    EXPECT_THAT(told, Not(Contains(run.run().run_id())));
    ids.push_back(run.run().run_id());
  }
  SayTold(coordinator_, Told::kCollected, ids);
  ids.clear();
  const auto rest = Await(coordinator_).Wait();
  ASSERT_THAT(rest, IsOk());
  for (const v1::SettledRun& run : rest->settled()) {
    ids.push_back(run.run().run_id());
  }
  EXPECT_EQ(ids, told);
}

TEST_F(RunWaitsTest, NoWaitIsLeftBehindHoweverItEnded) {
  const size_t each = RunWaits::kMaxOfCaller;
  std::string id = OpenRunning("e-1");
  std::vector<WaitAnswer> timed, cancelled, settled, asked;
  for (size_t i = 0; i < each; ++i) {
    timed.push_back(Await(coordinator_, {}, absl::Seconds(1)));
  }
  Pass(absl::Seconds(1));
  for (size_t i = 0; i < each; ++i) {
    int64_t ticket = 0;
    cancelled.push_back(Await(coordinator_, {}, absl::Seconds(30), &ticket));
    run_waits_.CancelWait(ticket);
  }
  Sync();
  for (size_t i = 0; i < each; ++i) settled.push_back(Await(coordinator_));
  SayDone(id);
  id = OpenRunning("e-2");
  for (size_t i = 0; i < each; ++i) {
    asked.push_back(Await(coordinator_, {run_id_}));
  }
  ASSERT_THAT(Ask(worker_, "Coordinator", "a-1"), IsOk());
  for (auto* answers : {&timed, &cancelled, &settled, &asked}) {
    for (const WaitAnswer& answer : *answers) EXPECT_EQ(answer.count(), 1);
  }
  // Late ends find nobody.
  SayDone(id);
  Pass(absl::Seconds(60));
  for (auto* answers : {&timed, &cancelled, &settled, &asked}) {
    for (const WaitAnswer& answer : *answers) EXPECT_EQ(answer.count(), 1);
  }
}

TEST_F(RunWaitsTest, AnAskOfTheWorkerEndsTheWaitAndIsNotRefused) {
  OpenRunning("e-1");
  const WaitAnswer answer = Await(coordinator_);
  ASSERT_THAT(Ask(worker_, "Coordinator", "a-1"), IsOk());
  const auto waited = answer.Wait();
  ASSERT_THAT(waited, IsOk());
  EXPECT_EQ(waited->ask().delivery_id(), "w-1/a-1");
  EXPECT_THAT(waited->open(), SizeIs(1));
}

TEST_F(RunWaitsTest, AnAskThatWaitsAlreadyAnswersAWaitAtOnce) {
  OpenRunning("e-1");
  ASSERT_THAT(Ask(other_, "Coordinator", "a-1"), IsOk());
  EXPECT_EQ(Await(coordinator_).Wait()->ask().delivery_id(), "w-2/a-1");
}

TEST_F(RunWaitsTest, AnAskInTheGraceAfterAWaitIsNotRefusedEither) {
  OpenRunning("e-1");
  const WaitAnswer answer = Await(coordinator_, {}, absl::Seconds(1));
  Pass(absl::Seconds(1));
  ASSERT_THAT(answer.Wait(), IsOk());
  EXPECT_THAT(Ask(worker_, "Coordinator", "a-1"), IsOk());
}

TEST_F(RunWaitsTest, AWaitThatAQuestionEndedKeepsNobodyFromAsking) {
  OpenRunning("e-1");
  const WaitAnswer answer = Await(coordinator_);
  ASSERT_THAT(Ask(other_, "Coordinator", "a-1"), IsOk());
  ASSERT_TRUE(answer.Wait()->has_ask());
  // The coordinator waited for the Builder a moment ago, but answers now.
  EXPECT_THAT(Ask(worker_, "Tester", "a-2"), IsOk());
}

TEST_F(RunWaitsTest, WaitsInARowAreNoCircleAndAQuestionEndsTheLast) {
  const TestSession headless = JoinHeadless("h-1", "w-1");
  ASSERT_THAT(Send(worker_, Opening("h-1", "e-1")), IsOk());
  const WaitAnswer inner = Await(worker_);
  Open("Builder", "e-2");
  const WaitAnswer outer = Await(coordinator_);
  EXPECT_EQ(inner.count() + outer.count(), 0);
  v1::SendRequest ask = Opening("c-1", "a-1");
  ask.clear_run();
  ask.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_ASK);
  ASSERT_THAT(Send(headless, ask), IsOk());
  EXPECT_TRUE(outer.Wait()->has_ask());
  EXPECT_EQ(inner.count(), 0);
  run_waits_.Drain();
  Sync();
}

TEST_F(RunWaitsTest, AWaitThatWouldCloseACircleIsRefused) {
  // h-1 works for w-1 and supervises h-2; each waits for the next.
  const TestSession first = JoinHeadless("h-1", "w-1");
  const TestSession second = JoinHeadless("h-2", "h-1");
  JoinHeadless("h-3", "h-2");
  ASSERT_THAT(Send(worker_, Opening("h-1", "e-1")), IsOk());
  ASSERT_THAT(Send(first, Opening("h-2", "e-2")), IsOk());
  const WaitAnswer outer = Await(worker_);
  ASSERT_EQ(outer.count(), 0);
  const WaitAnswer inner = Await(first);
  ASSERT_EQ(inner.count(), 0);
  // A circle of waits alone takes a worker that launched its supervisor.
  JobRow job;
  job.job_id = "job-of-w-1";
  job.kind = v1::Job::KIND_OPEN;
  job.requested_by = "h-2";
  job.launcher = "headless";
  job.created_at = job.updated_at = clock_.Now();
  ASSERT_THAT(OnState([&] { return job_store_.Put(job); }), IsOk());
  OnState([&] {
    roster_.Find("w-1")->launch_job_id = "job-of-w-1";
    return true;
  });
  ASSERT_THAT(Send(second, Opening("w-1", "e-3")), IsOk());
  const auto refused = Await(second).Wait();
  EXPECT_THAT(refused,
              FailsWith(StatusCode::kFailedPrecondition, "WAIT_CYCLE"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("waits for you"));
  run_waits_.Drain();
  Sync();
}

}  // namespace
}  // namespace intercom
