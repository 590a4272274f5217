#include "broker/work/run_desk.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/run_rig.h"

namespace intercom {
namespace {

using absl::StatusCode;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class RunDeskTest : public RunRig {};

TEST_F(RunDeskTest, ARunIsOpenedWithItsEnvelopeAndBothSidesAreTold) {
  const std::string id = Open("Builder", "e-1", "the parser");

  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  const auto deliveries = worker_.link->deliveries();
  ASSERT_THAT(deliveries, SizeIs(1));
  EXPECT_EQ(deliveries[0].run_id(), run_id_);
  ASSERT_THAT(OpenRunsOf(worker_).runs(), SizeIs(1));
  EXPECT_EQ(OpenRunsOf(worker_).runs(0).label(), "the parser");
  EXPECT_EQ(OpenRunsOf(worker_).runs(0).supervisor_session_id(), "c-1");
  EXPECT_EQ(NewsOf(coordinator_).open(), 1);
  EXPECT_TRUE(NewsOf(coordinator_).supervises());
}

TEST_F(RunDeskTest, ARepeatedSendOpensNothingMoreAndNamesTheSameRun) {
  Open("Builder", "e-1");
  const std::string first = run_id_;
  const auto again = Send(coordinator_, Opening("Builder", "e-1"));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->run_id(), first);
  SayReceipt(worker_, again->delivery_id(), v1::Receipt::EVENT_INJECTED);
  SayDone(again->delivery_id());
  const auto late = Send(coordinator_, Opening("Builder", "e-1"));
  ASSERT_THAT(late, IsOk());
  EXPECT_EQ(late->run_id(), first);
  EXPECT_THAT(List(coordinator_, {first})->runs(), SizeIs(1));
}

TEST_F(RunDeskTest, AnEnvelopeThatOpenedNoRunOpensNoneLater) {
  v1::SendRequest plain = Opening("Builder", "e-1");
  plain.clear_run();
  ASSERT_THAT(Send(coordinator_, plain), IsOk());
  EXPECT_THAT(Send(coordinator_, Opening("Builder", "e-1")),
              FailsWith(StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED"));
}

TEST_F(RunDeskTest, OnlyOnesWorkersTakeRuns) {
  EXPECT_THAT(Send(worker_, Opening("Tester", "e-1")),
              FailsWith(StatusCode::kFailedPrecondition, "NOT_ONES_WORKER"));
  EXPECT_THAT(Send(worker_, Opening("Coordinator", "e-2")),
              FailsWith(StatusCode::kFailedPrecondition, "NOT_ONES_WORKER"));
  JoinHeadless("h-1", "w-1");
  EXPECT_THAT(Send(worker_, Opening("h-1", "e-3")), IsOk());
  EXPECT_THAT(Send(other_, Opening("h-1", "e-4")),
              FailsWith(StatusCode::kFailedPrecondition, "NOT_ONES_WORKER"));
}

TEST_F(RunDeskTest, ASessionWhosePersonTakesNoRunsGetsNone) {
  v1::RunPolicy policy;
  policy.set_refuses(true);
  run_desk_.OnPolicy(worker_.key, policy);
  Sync();
  EXPECT_THAT(Send(coordinator_, Opening("Builder", "e-1")),
              FailsWith(StatusCode::kFailedPrecondition, "RUNS_OFF"));
  policy.set_refuses(false);
  run_desk_.OnPolicy(worker_.key, policy);
  Sync();
  EXPECT_THAT(Send(coordinator_, Opening("Builder", "e-1")), IsOk());
}

TEST_F(RunDeskTest, SixtyFourRunsMayBeOpen) {
  for (int i = 0; i < Runs::kMaxOpen; ++i) {
    Open("Builder", "e-" + std::to_string(i));
  }
  EXPECT_THAT(Send(coordinator_, Opening("Builder", "more")),
              FailsWith(StatusCode::kResourceExhausted, "RUNS_FULL"));
  EXPECT_THAT(Send(coordinator_, Opening("Builder", "e-3")), IsOk());
}

TEST_F(RunDeskTest, WhatIsNoOpeningIsRefusedInWords) {
  v1::SendRequest ask = Opening("Builder", "e-1");
  ask.mutable_envelope()->set_kind(v1::ENVELOPE_KIND_ASK);
  v1::SendRequest both = Opening("Builder", "e-2");
  both.set_to_fellow(true);
  v1::SendRequest lines = Opening("Builder", "e-3", "two\nlines");
  v1::SendRequest long_label = Opening("Builder", "e-4", std::string(81, 'x'));
  v1::SendRequest brief = Opening("Builder", "e-5");
  brief.mutable_run()->mutable_stop_after()->set_nanos(1);
  for (const auto& request : {ask, both, lines, long_label, brief}) {
    EXPECT_THAT(Send(coordinator_, request),
                FailsWith(StatusCode::kInvalidArgument, "RUN_INVALID"));
  }
  v1::SendRequest person = Opening("Builder", "e-6");
  person.set_reach(v1::REACH_WORKSPACE);
  person.set_directory(root_);
  RecordAnswer answer;
  mail_.Send(Person(), person, answer.Callback());
  EXPECT_THAT(answer.Wait(),
              FailsWith(StatusCode::kInvalidArgument, "RUN_INVALID"));
}

TEST_F(RunDeskTest, ItRunsWhenItIsInTheSessionAndSettlesByTheHostsWord) {
  const std::string id = OpenRunning("e-1");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  v1::RunEvent done = Event(id, v1::RunEvent::EVENT_DONE, "all is done", 3);
  done.mutable_usage()->set_output_tokens(7);
  done.set_model("p/m");
  Say(worker_, done);

  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
  EXPECT_THAT(OpenRunsOf(worker_).runs(), IsEmpty());
  const v1::RunNews news = NewsOf(coordinator_);
  EXPECT_EQ(news.open(), 0);
  ASSERT_THAT(news.settled(), SizeIs(1));
  EXPECT_EQ(news.settled(0).result().text(), "all is done");
  EXPECT_EQ(news.settled(0).run().turns(), 3);
  EXPECT_EQ(news.settled(0).run().usage().output_tokens(), 7);
  EXPECT_EQ(news.settled(0).run().model(), "p/m");
}

TEST_F(RunDeskTest, ARunFoundInTheSessionAtAttachRuns) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  JoinAs(WorkerHello("w-1"), {id});
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunDeskTest, ARunWhoseEnvelopeTheSessionLostWaitsForItAgain) {
  const std::string id = OpenRunning("e-1");
  Detach(worker_);
  const TestSession back = JoinAs(WorkerHello("w-1"));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  const auto again = back.link->deliveries();
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].run_id(), run_id_);
  SayReceipt(back, id, v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunDeskTest, ItSettlesOnceAndWhatComesLaterIsDropped) {
  const std::string id = OpenRunning("e-1");
  SayDone(id, "first");
  Say(worker_, Event(id, v1::RunEvent::EVENT_FAILED, "second"));
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "third", 9));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
  EXPECT_EQ(TextOf(id), "first");
  EXPECT_EQ(OnState([&] { return run_store_.TotalsIn(root_)->runs; }), 1);
}

TEST_F(RunDeskTest, OnlyItsWorkerSpeaksForARun) {
  const std::string id = OpenRunning("e-1");
  Say(other_, Event(id, v1::RunEvent::EVENT_DONE, "forged"));
  Say(coordinator_, Event(id, v1::RunEvent::EVENT_DONE, "forged"));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunDeskTest, EachEndOfAHostIsTheRunsOwn) {
  const std::string failed = OpenRunning("e-1");
  v1::RunEvent said = Event(failed, v1::RunEvent::EVENT_FAILED, "half");
  said.mutable_result()->set_error("overloaded");
  Say(worker_, said);
  EXPECT_EQ(StateOf(failed), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(failed), "host_error");

  const std::string stopped = OpenRunning("e-2");
  Say(worker_, Event(stopped, v1::RunEvent::EVENT_STOPPED));
  EXPECT_EQ(StateOf(stopped), v1::Run::STATE_STOPPED);
  EXPECT_EQ(ReasonFor(stopped), "cancelled");

  const std::string interrupted = OpenRunning("e-3");
  Say(worker_, Event(interrupted, v1::RunEvent::EVENT_INTERRUPTED, "so far"));
  EXPECT_EQ(StateOf(interrupted), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(interrupted), "interrupted");
  EXPECT_EQ(TextOf(interrupted), "so far");
}

TEST_F(RunDeskTest, AnEndWithoutTextKeepsWhatWasKnown) {
  const std::string id = OpenRunning("e-1");
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "half of it", 1));
  Say(worker_, Event(id, v1::RunEvent::EVENT_FAILED));
  EXPECT_EQ(TextOf(id), "half of it");
}

TEST_F(RunDeskTest, AnEnvelopeThatDoesNotArriveFailsItsRunWithoutANotice) {
  const std::string id = Open("Builder", "e-1");
  SayReceipt(worker_, id, v1::Receipt::EVENT_FAILED);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(id), "not_delivered");
  EXPECT_THAT(NoticesOf(coordinator_, "DEAD_LETTERED"), IsEmpty());
  EXPECT_THAT(SettledIds(coordinator_), ElementsAre(run_id_));
}

TEST_F(RunDeskTest, AnEnvelopeThatItsSenderTakesBackStopsItsRun) {
  Detach(worker_);
  const std::string id = Open("Builder", "e-1");
  EXPECT_THAT(TakeBack(CallOf(coordinator_), "e-1"), IsOk());
  EXPECT_EQ(StateOf(id), v1::Run::STATE_STOPPED);
  EXPECT_EQ(ReasonFor(id), "cancelled");
}

TEST_F(RunDeskTest, AnEnvelopeTakenBackThatMayBeThereLeavesItsRunOpen) {
  const std::string id = Open("Builder", "e-1");
  Detach(worker_);
  EXPECT_THAT(TakeBack(CallOf(coordinator_), "e-1"),
              FailsWith(StatusCode::kDeadlineExceeded, "OUTCOME_UNKNOWN"));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  worker_ = JoinAs(WorkerHello("w-1"), {id});
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_THAT(StopsOf(worker_), IsEmpty()) << "nobody asked for a stop";
  SayDone(id, "all");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
}

TEST_F(RunDeskTest, TheStallClockMovesOnlyOnRealAdvance) {
  const std::string id = OpenRunning("e-1");
  const auto advanced = [&] { return *RowOf(id).last_advance_at; };
  const absl::Time begun = advanced();
  Pass(absl::Seconds(1));
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS));
  EXPECT_EQ(advanced(), begun);
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "a word"));
  EXPECT_EQ(advanced(), begun + absl::Seconds(1));
  Pass(absl::Seconds(1));
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "a word"));
  EXPECT_EQ(advanced(), begun + absl::Seconds(1));
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "a word", 1));
  EXPECT_EQ(advanced(), begun + absl::Seconds(2));
  Pass(absl::Seconds(1));
  v1::RunEvent tokens = Event(id, v1::RunEvent::EVENT_PROGRESS, "a word", 1);
  tokens.mutable_usage()->set_input_tokens(5);
  Say(worker_, tokens);
  EXPECT_EQ(advanced(), begun + absl::Seconds(3));
}

TEST_F(RunDeskTest, AStallIsToldOnceAndAgainAfterAnAdvance) {
  const std::string id = OpenRunning("e-1");
  Pass(absl::Seconds(89));
  EXPECT_THAT(NewsOf(coordinator_).stalled(), IsEmpty());
  Pass(absl::Seconds(31));
  EXPECT_THAT(IdsOf(NewsOf(coordinator_).stalled()), ElementsAre(run_id_));
  EXPECT_TRUE(List(coordinator_)->runs(0).stalled());
  SayTold(coordinator_, Told::kStalled, {run_id_});
  EXPECT_THAT(NewsOf(coordinator_).stalled(), IsEmpty());
  Pass(absl::Seconds(300));
  EXPECT_THAT(NewsOf(coordinator_).stalled(), IsEmpty());

  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "more"));
  Pass(absl::Seconds(120));
  EXPECT_THAT(IdsOf(NewsOf(coordinator_).stalled()), ElementsAre(run_id_));
}

TEST_F(RunDeskTest, WhatWasToldOrCollectedIsNotToldAgain) {
  const std::string first = OpenRunning("e-1");
  const std::string one = run_id_;
  const std::string second = OpenRunning("e-2");
  const std::string two = run_id_;
  SayDone(first, "1");
  SayDone(second, "2");
  EXPECT_THAT(SettledIds(coordinator_), ElementsAre(one, two));
  SayTold(coordinator_, Told::kCollected, {one});
  EXPECT_THAT(SettledIds(coordinator_), ElementsAre(two));
  SayTold(coordinator_, Told::kAnnounced, {two, "run-999", "no id"});
  EXPECT_THAT(SettledIds(coordinator_), IsEmpty());
  EXPECT_EQ(RowOf(second).announced, 1);

  // Neither does a session that attaches anew hear of them.
  Detach(coordinator_);
  coordinator_ = Join("c-1");
  EXPECT_THAT(SettledIds(coordinator_), IsEmpty());
  EXPECT_TRUE(NewsOf(coordinator_).supervises());
}

TEST_F(RunDeskTest, ABurstOfOneBatchIsOneFrameOfNews) {
  const std::string first = OpenRunning("e-1");
  const std::string second = OpenRunning("e-2");
  const size_t before =
      coordinator_.link->Of(v1::AttachResponse::kRunNews).size();
  std::promise<void> held, release;
  runner_->PostTask([&] {
    held.set_value();
    release.get_future().wait();
  });
  held.get_future().wait();
  run_desk_.OnEvent(worker_.key, Event(first, v1::RunEvent::EVENT_DONE));
  run_desk_.OnEvent(worker_.key, Event(second, v1::RunEvent::EVENT_DONE));
  release.set_value();
  Sync();
  EXPECT_THAT(coordinator_.link->Of(v1::AttachResponse::kRunNews),
              SizeIs(before + 1));
  EXPECT_THAT(SettledIds(coordinator_), SizeIs(2));
}

TEST_F(RunDeskTest, WhoLeavesInTheMomentOfTheNewsHarmsNobodyAndHearsThemLater) {
  const TestSession headless = JoinHeadless("h-1", "w-2");
  const auto theirs = Send(other_, Opening("h-1", "e-1"));
  ASSERT_THAT(theirs, IsOk());
  const std::string id = OpenRunning("e-2");
  std::promise<void> held, release;
  runner_->PostTask([&] {
    held.set_value();
    release.get_future().wait();
  });
  held.get_future().wait();
  // In one batch: an end, its supervisor's leaving, and another's end.
  run_desk_.OnEvent(worker_.key, Event(id, v1::RunEvent::EVENT_DONE, "mine"));
  registrar_.Detach(coordinator_.key, v1::Goodbye::REASON_UNSPECIFIED);
  run_desk_.OnEvent(headless.key, Event(theirs->delivery_id(),
                                        v1::RunEvent::EVENT_DONE, "theirs"));
  release.set_value();
  Sync();
  EXPECT_THAT(SettledIds(other_), ElementsAre(theirs->run_id()));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
  coordinator_ = Join("c-1");
  EXPECT_THAT(SettledIds(coordinator_), ElementsAre(run_id_));
}

TEST_F(RunDeskTest, AListShowsOpenAndUntoldRunsAndNeverAnyText) {
  const std::string first = OpenRunning("e-1");
  const std::string one = run_id_;
  Say(worker_, Event(first, v1::RunEvent::EVENT_DONE, "the secret text"));
  Open("Builder", "e-2");
  const auto listed = List(coordinator_);
  ASSERT_THAT(listed, IsOk());
  EXPECT_THAT(IdsOf(listed->runs()), ElementsAre(one, run_id_));
  EXPECT_THAT(listed->DebugString(), Not(HasSubstr("secret")));
  SayTold(coordinator_, Told::kCollected, {one});
  EXPECT_THAT(IdsOf(List(coordinator_)->runs()), ElementsAre(run_id_));
  EXPECT_THAT(IdsOf(List(coordinator_, {one})->runs()), ElementsAre(one));
  EXPECT_THAT(List(worker_)->runs(), IsEmpty());
}

TEST_F(RunDeskTest, AResultIsGivenWholeAndOnlyToItsSupervisor) {
  const std::string id = OpenRunning("e-1");
  EXPECT_THAT(Get(coordinator_, run_id_),
              FailsWith(StatusCode::kFailedPrecondition, "RUN_OPEN"));
  const std::string text(100'000, 'x');
  SayDone(id, text);
  EXPECT_EQ(Get(coordinator_, run_id_)->settled().result().text(), text);
  const v1::RunResult told = NewsOf(coordinator_).settled(0).result();
  EXPECT_EQ(told.text().size(), kExcerptCharacters);
  EXPECT_EQ(told.left_out(), 96'000);
  EXPECT_THAT(Get(worker_, run_id_),
              FailsWith(StatusCode::kNotFound, "UNKNOWN_RUN"));
  EXPECT_THAT(Get(coordinator_, "run-999"),
              FailsWith(StatusCode::kNotFound, "UNKNOWN_RUN"));
  for (const char* invalid : {"", "12", "run-", "run-0", "run-1x", "run--1"}) {
    EXPECT_THAT(Get(coordinator_, invalid),
                FailsWith(StatusCode::kInvalidArgument, "RUN_ID_INVALID"));
  }
}

TEST_F(RunDeskTest, ATextBeyondItsLimitKeepsBothEnds) {
  const std::string id = OpenRunning("e-1");
  SayDone(id, "begin" + std::string(kMaxResultBytes, 'x') + "end");
  const std::string kept = TextOf(id);
  EXPECT_EQ(kept.size(), kMaxResultBytes);
  EXPECT_TRUE(kept.starts_with("begin"));
  EXPECT_TRUE(kept.ends_with("end"));
  EXPECT_EQ(Get(coordinator_, run_id_)->settled().result().left_out(), 8);
}

TEST_F(RunDeskTest, TheCollectedGiveWayAndAreSaidToHaveBeenDropped) {
  std::vector<std::string> ids;
  for (int i = 0; i <= Runs::kUsuallyKept; ++i) {
    SayDone(OpenRunning("e-" + std::to_string(i)));
    ids.push_back(run_id_);
  }
  SayTold(coordinator_, Told::kCollected, {ids[3]});
  EXPECT_THAT(Get(coordinator_, ids[3]),
              FailsWith(StatusCode::kNotFound, "RUN_DROPPED"));
  EXPECT_THAT(Get(coordinator_, ids[0]), IsOk());
}

TEST_F(RunDeskTest, AWideFanOutStaysFetchable) {
  std::vector<std::string> deliveries, ids;
  for (int i = 0; i < 40; ++i) {
    deliveries.push_back(Open("Builder", "e-" + std::to_string(i)));
    ids.push_back(run_id_);
  }
  for (const std::string& id : deliveries) SayDone(id, "of " + id);
  SayTold(coordinator_, Told::kAnnounced, ids);
  for (const std::string& id : ids) {
    EXPECT_THAT(Get(coordinator_, id), IsOk()) << id;
  }
  // They give way to later ones.
  Open("Builder", "later");
  EXPECT_THAT(Get(coordinator_, ids[0]),
              FailsWith(StatusCode::kNotFound, "RUN_DROPPED"));
  EXPECT_THAT(Get(coordinator_, ids[39]), IsOk());
}

TEST_F(RunDeskTest, ASupervisorKeepsAsManyAsItSays) {
  Detach(coordinator_);
  v1::Hello hello = HelloOf("c-1");
  hello.set_runs_kept(1);
  coordinator_ = JoinAs(hello);
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) {
    SayDone(OpenRunning("e-" + std::to_string(i)));
    ids.push_back(run_id_);
    SayTold(coordinator_, Told::kCollected, {run_id_});
  }
  EXPECT_THAT(Get(coordinator_, ids[1]),
              FailsWith(StatusCode::kNotFound, "RUN_DROPPED"));
  EXPECT_THAT(Get(coordinator_, ids[2]), IsOk());
}

TEST_F(RunDeskTest, ARunIsSteeredByMailToItsWorkerWhileItRuns) {
  v1::SendRequest steer = Opening("", "s-1");
  steer.clear_run();
  const std::string id = Open("Builder", "e-1");
  steer.set_to_run(run_id_);
  EXPECT_THAT(Send(coordinator_, steer),
              FailsWith(StatusCode::kFailedPrecondition, "RUN_NOT_RUNNING"));
  EXPECT_THAT(MessageOf(Send(coordinator_, steer).status()),
              HasSubstr("Peek shows when it runs"));
  SayReceipt(worker_, id, v1::Receipt::EVENT_INJECTED);
  const auto sent = Send(coordinator_, steer);
  ASSERT_THAT(sent, IsOk());
  EXPECT_EQ(sent->recipient_session_id(), "w-1");
  EXPECT_EQ(sent->run_id(), "");
  EXPECT_THAT(Send(other_, steer),
              FailsWith(StatusCode::kNotFound, "UNKNOWN_RUN"));
  SayDone(id);
  EXPECT_THAT(Send(coordinator_, steer), IsOk()) << "a repeat";
  steer.mutable_envelope()->set_envelope_id("s-2");
  EXPECT_THAT(Send(coordinator_, steer),
              FailsWith(StatusCode::kFailedPrecondition, "RUN_NOT_RUNNING"));
  EXPECT_THAT(MessageOf(Send(coordinator_, steer).status()),
              HasSubstr("Result gives what it came to"));
}

TEST_F(RunDeskTest, FellowsOfOneSupervisorWriteToEachOtherTwentyTimesARun) {
  OpenRunning("e-1");
  Open("Tester", "e-2", "tests");
  const auto to = [&](const std::string& name, const std::string& id) {
    v1::SendRequest request = Opening(name, id);
    request.clear_run();
    request.set_to_fellow(true);
    return request;
  };
  for (const std::string& name : {std::string("tester"), run_id_,
                                  std::string("tests"), std::string("w-2")}) {
    const auto sent = Send(worker_, to(name, "by-" + name));
    ASSERT_THAT(sent, IsOk());
    EXPECT_EQ(sent->recipient_session_id(), "w-2");
  }
  EXPECT_THAT(Send(worker_, to("Coordinator", "f-0")),
              FailsWith(StatusCode::kFailedPrecondition, "NOT_A_FELLOW"));
  EXPECT_THAT(Send(worker_, to("Builder", "f-0")),
              FailsWith(StatusCode::kInvalidArgument, "SELF_TARGET"));
  EXPECT_THAT(Send(coordinator_, to("Tester", "f-0")),
              FailsWith(StatusCode::kNotFound, "NO_SUPERVISOR"));
  for (int i = 4; i < RunOpenings::kMaxFellowMessages; ++i) {
    EXPECT_THAT(Send(worker_, to("Tester", "f-" + std::to_string(i))), IsOk());
  }
  EXPECT_THAT(Send(worker_, to("Tester", "more")),
              FailsWith(StatusCode::kResourceExhausted, "FELLOWS_FULL"));
  EXPECT_THAT(Send(worker_, to("Tester", "f-9")), IsOk()) << "a repeat";
}

TEST_F(RunDeskTest, HeadlessWorkersKnowTheirSupervisorAndAreFellows) {
  const TestSession first = JoinHeadless("h-1", "c-1");
  JoinHeadless("h-2", "c-1");
  EXPECT_EQ(OpenRunsOf(first).supervisor_session_id(), "c-1");
  EXPECT_EQ(OpenRunsOf(first).supervisor_name(), "Coordinator");
  v1::SendRequest request = Opening("h-2 by name", "f-1");
  request.clear_run();
  request.set_to_fellow(true);
  const auto sent = Send(first, request);
  ASSERT_THAT(sent, IsOk());
  EXPECT_EQ(sent->recipient_session_id(), "h-2");
}

TEST_F(RunDeskTest, AHeadlessWorkerWithoutARunWritesTwentyMessages) {
  const TestSession first = JoinHeadless("h-1", "c-1");
  const TestSession second = JoinHeadless("h-2", "c-1");
  const auto to = [&](const std::string& id) {
    v1::SendRequest request = Opening("h-2 by name", id);
    request.clear_run();
    request.set_to_fellow(true);
    return request;
  };
  for (int i = 0; i < RunOpenings::kMaxFellowMessages; ++i) {
    EXPECT_THAT(Send(first, to("f-" + std::to_string(i))), IsOk());
  }
  EXPECT_THAT(Send(first, to("more")),
              FailsWith(StatusCode::kResourceExhausted, "FELLOWS_FULL"));
  EXPECT_THAT(Send(first, to("f-3")), IsOk()) << "a repeat";
  // A run has messages of its own, and so has the time after it.
  const std::string id = Open("h-1", "e-1");
  EXPECT_THAT(Send(first, to("in-run")), IsOk());
  SayReceipt(first, id, v1::Receipt::EVENT_INJECTED);
  Say(first, Event(id, v1::RunEvent::EVENT_DONE));
  EXPECT_THAT(Send(first, to("after")), IsOk());
}

TEST_F(RunDeskTest, ARunThatBeganWithoutItsEnvelopeWaitsAgainAtANewHost) {
  const std::string id = Open("Builder", "e-1");
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "begun"));
  ASSERT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  Detach(worker_);
  worker_ = JoinWorker("w-1");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  EXPECT_FALSE(RowOf(id).started_at.has_value());
  ASSERT_THAT(worker_.link->deliveries(), SizeIs(1));
  EXPECT_TRUE(worker_.link->deliveries()[0].redelivered());
  SayReceipt(worker_, id, v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunDeskTest, ARunThatBeganWithoutItsEnvelopeRunsOnAtTheSameHost) {
  const std::string id = Open("Builder", "e-1");
  Say(worker_, Event(id, v1::RunEvent::EVENT_PROGRESS, "begun"));
  Detach(worker_);
  v1::Hello hello = WorkerHello("w-1");
  hello.set_start_reason(v1::START_REASON_RECONNECT);
  worker_ = JoinAs(hello);
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
}

TEST_F(RunDeskTest, ARunThatBeganAtNobodyWaitsAtTheHeirOfItsMail) {
  const TestSession first = JoinHeadless("h-1", "c-1");
  Detach(first);
  const std::string id = Open("h-1", "e-1");
  // As a host said that left no trace of it.
  OnState([&] {
    RunRow run = run_store_.FindByDelivery(id).value().value();
    run.state = v1::Run::STATE_RUNNING;
    run.started_at = clock_.Now();
    EXPECT_THAT(run_store_.Put(run), IsOk());
    return true;
  });
  v1::Hello heir = WorkerHello("h-9");
  heir.set_session_name("h-1 by name");
  const TestSession second = JoinAs(heir);
  EXPECT_EQ(RowOf(id).worker_session_id, "h-9");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_WAITING);
  EXPECT_FALSE(RowOf(id).started_at.has_value());
}

TEST_F(RunDeskTest, AWaitingRunMovesAlongWithItsMail) {
  const TestSession first = JoinHeadless("h-1", "c-1");
  Detach(first);
  const std::string id = Open("h-1", "e-1");
  v1::Hello heir = WorkerHello("h-9");
  heir.set_session_name("h-1 by name");
  const TestSession second = JoinAs(heir);
  EXPECT_EQ(RowOf(id).worker_session_id, "h-9");
  EXPECT_THAT(IdsOf(OpenRunsOf(second).runs()), ElementsAre(run_id_));
  SayReceipt(second, id, v1::Receipt::EVENT_INJECTED);
  Say(second, Event(id, v1::RunEvent::EVENT_DONE, "done"));
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
}

TEST_F(RunDeskTest, ARemovedWorkersRunFailsAsNotDelivered) {
  Detach(worker_);
  const std::string id = Open("Builder", "e-1");
  Answer<absl::StatusOr<int64_t>> refused;
  runner_->PostTask([&] {
    dispatcher_.RefuseMail("w-1", "it was removed", refused.Callback());
  });
  EXPECT_THAT(refused.Wait(), IsOk());
  Sync();
  EXPECT_EQ(StateOf(id), v1::Run::STATE_FAILED);
  EXPECT_EQ(ReasonFor(id), "not_delivered");
}

TEST_F(RunDeskTest, StatusSumsUpWhatSettledRunsTook) {
  for (const char* id : {"e-1", "e-2"}) {
    v1::RunEvent done =
        Event(OpenRunning(id), v1::RunEvent::EVENT_DONE, "done", 2);
    done.mutable_usage()->set_output_tokens(5);
    done.mutable_usage()->set_cost(0.5);
    Say(worker_, done);
  }
  v1::GetWorkerStatusRequest request;
  Answer<absl::StatusOr<v1::GetWorkerStatusResponse>> answer;
  request.set_name("Builder");
  Detach(worker_);  // There is nobody to probe.
  status_desk_.GetWorkerStatus(CallOf(coordinator_), request,
                               answer.Callback());
  const auto status = answer.Wait();
  ASSERT_THAT(status, IsOk());
  EXPECT_EQ(status->workers(0).run_totals().runs(), 2);
  EXPECT_EQ(status->workers(0).run_totals().turns(), 4);
  EXPECT_EQ(status->run_totals().usage().output_tokens(), 10);
  EXPECT_EQ(status->run_totals().usage().cost(), 1.0);
}

TEST_F(RunDeskTest, AfterARestartTheOpenRunsAreAsTheyWere) {
  const std::string id = OpenRunning("e-1");
  EXPECT_THAT(OnState([&] { return runs_.Load(); }), IsOk());
  EXPECT_EQ(OnState([&] { return runs_.OfWorker("w-1").size(); }), 1);
  SayDone(id, "done");
  EXPECT_EQ(StateOf(id), v1::Run::STATE_DONE);
}

TEST_F(RunDeskTest, AFailedCommitChangesNothingAndTheEndIsToldAgain) {
  const std::string id = OpenRunning("e-1");
  InFailingBatch([&] {
    run_desk_.OnEvent(worker_.key, Event(id, v1::RunEvent::EVENT_DONE, "x"));
  });
  EXPECT_EQ(StateOf(id), v1::Run::STATE_RUNNING);
  EXPECT_TRUE(worker_.link->closed().has_value());
}

}  // namespace
}  // namespace intercom
