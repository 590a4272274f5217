// Waiting for replies, and what becomes of a reply that is set aside.
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/ask_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AskWaitTest : public AskRig {
 protected:
  // Asked, waited for, answered and taken: r1 is set aside for the planner.
  void Answered() {
    AskInjected(planner_, "Builder", builder_, "a1");
    const auto waiting = Await(planner_, "a1");
    ASSERT_THAT(Reply(builder_, "r1"), IsOk());
    ASSERT_THAT(waiting.Wait(), IsOk());
  }
  v1::WaitReason WaitOf(const std::string& delivery_id) {
    return RecordOf(delivery_id).wait_reason();
  }
};

// --- Waiting

TEST_F(AskWaitTest, AWaitEndsWithItsTimeAndSaysHowTheAskIs) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(CallOf(planner_), "a1", absl::Milliseconds(1500));
  clock_.Advance(absl::Seconds(1));
  runner_->WakeTimers();
  Sync();
  EXPECT_EQ(waiting.count(), 0);
  clock_.Advance(absl::Milliseconds(500));
  runner_->WakeTimers();
  Sync();
  const auto response = waiting.Wait();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->ask().state(), v1::Ask::STATE_OPEN);
  EXPECT_TRUE(response->ask().awaited());
  EXPECT_EQ(response->ask().delivery_state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_FALSE(response->has_reply());
}

TEST_F(AskWaitTest, AnyNumberMayWaitAndAllAreAnswered) {
  AskInjected(planner_, "Builder", builder_, "a1");
  std::vector<AwaitAnswer> waiting;
  for (int i = 0; i < 64; ++i) waiting.push_back(Await(planner_, "a1"));
  EXPECT_THAT(Await(planner_, "a1").Wait(),
              FailsWith(absl::StatusCode::kResourceExhausted, "WAITS_FULL"));
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  for (const AwaitAnswer& answer : waiting) {
    EXPECT_EQ(answer.Wait()->reply().delivery_id(), "w-2/r1");
    EXPECT_EQ(answer.count(), 1);
  }
  EXPECT_THAT(Await(planner_, "a1").Wait(), IsOk());
}

TEST_F(AskWaitTest, OnlyTheAskerWaits) {
  AskInjected(planner_, "Builder", builder_, "a1");
  for (const CallerEvidence& other : {CallOf(builder_), Person()}) {
    EXPECT_THAT(Look(other, "a1"),
                FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ASK"));
  }
  EXPECT_THAT(Look(CallOf(planner_), "never-asked"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ASK"));
  EXPECT_THAT(Send(CallOf(planner_), "Builder", Message("m1")), IsOk());
  EXPECT_THAT(Look(CallOf(planner_), "m1"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ASK"));
}

TEST_F(AskWaitTest, AWaitIsAtMostThirtySeconds) {
  AskInjected(planner_, "Builder", builder_, "a1");
  for (const absl::Duration wait :
       {-absl::Seconds(1), absl::Seconds(30) + absl::Nanoseconds(1)}) {
    EXPECT_THAT(Await(CallOf(planner_), "a1", wait).Wait(),
                FailsWith(absl::StatusCode::kInvalidArgument, "WAIT_INVALID"));
  }
  EXPECT_THAT(
      Await(CallOf(planner_), "no/id").Wait(),
      FailsWith(absl::StatusCode::kInvalidArgument, "ENVELOPE_INVALID"));
}

TEST_F(AskWaitTest, AWaitWhoseCallWasCancelledIsForgotten) {
  AskInjected(planner_, "Builder", builder_, "a1");
  int64_t ticket = 0;
  const auto waiting =
      Await(CallOf(planner_), "a1", absl::Seconds(30), &ticket);
  asks_.CancelWait(ticket);
  asks_.CancelWait(ticket);
  asks_.CancelWait(ticket + 1'000);
  Sync();
  EXPECT_THAT(waiting.Wait(), HasCode(absl::StatusCode::kCancelled));
  // From then on nobody waits.
  Pass(absl::Seconds(10));
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
  EXPECT_EQ(waiting.count(), 1);
}

TEST_F(AskWaitTest, AStoppingBrokerAnswersWhoeverWaits) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  asks_.Drain();
  Sync();
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_OPEN);
  EXPECT_EQ(Await(planner_, "a1").Wait()->ask().state(), v1::Ask::STATE_OPEN);
}

TEST_F(AskWaitTest, AReplyThatCouldNotBeStoredAnswersNobody) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  InFailingBatch([&] {
    runner_->PostCommand({[this](Effects& effects) -> absl::Status {
                            v1::Envelope reply = Message("r1");
                            reply.set_kind(v1::ENVELOPE_KIND_REPLY);
                            reply.set_reply_to("w-1/a1");
                            Recipient recipient{"w-1", "", {}};
                            recipient.set_aside = true;
                            auto record = dispatcher_.Accept(
                                *ValidatedEnvelope::FromClient(reply),
                                SenderNamed("w-2"), recipient, effects);
                            if (!record.ok()) return record.status();
                            return asks_.OnAccepted(*record, "", effects);
                          },
                          nullptr});
  });
  EXPECT_EQ(waiting.count(), 0);
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_ANSWERED);
}

// --- A reply that is set aside

TEST_F(AskWaitTest, AReplyThatIsTakenIsDeliveredByTheCallAndNotOffered) {
  Answered();
  const v1::DeliveryRecord record = RecordOf("w-2/r1");
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(EvidenceOf(record, v1::DELIVERY_STATE_DELIVERED),
            "taken by the call that waits");
  EXPECT_EQ(record.wait_reason(), v1::WAIT_REASON_AWAITED);
  EXPECT_EQ(MailboxOf("w-1").envelopes, 1);
  EXPECT_THAT(Offered(planner_), IsEmpty());

  // Its host puts it into the session, and says so.
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_DELIVERED, "agent");
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_INJECTED, "entry");
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_SEEN, "turn");
  EXPECT_EQ(RecordOf("w-2/r1").state(), v1::DELIVERY_STATE_SEEN);
  EXPECT_EQ(MailboxOf("w-1").envelopes, 0);
  Pass(absl::Seconds(60));
  EXPECT_THAT(Offered(planner_), IsEmpty());
}

TEST_F(AskWaitTest, ARepeatedWaitHasTheReplyAgain) {
  Answered();
  EXPECT_EQ(Await(planner_, "a1").Wait()->reply().delivery_id(), "w-2/r1");
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_INJECTED);
  Pass(absl::Hours(1));
  EXPECT_EQ(Await(planner_, "a1").Wait()->reply().delivery_id(), "w-2/r1");
}

TEST_F(AskWaitTest, AReplyThatNobodyTakesForTenSecondsIsMail) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  Pass(absl::Seconds(9));
  EXPECT_THAT(Offered(planner_), IsEmpty());
  EXPECT_EQ(WaitOf("w-2/r1"), v1::WAIT_REASON_AWAITED);
  Pass(absl::Seconds(1));
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
  EXPECT_FALSE(planner_.link->deliveries()[0].redelivered());
}

TEST_F(AskWaitTest, AReplyWhoseTakerDiedBeforeShowingItIsMailAgain) {
  Answered();
  Detach(planner_);
  Pass(absl::Seconds(5));
  planner_ = Join("w-1");
  EXPECT_THAT(Offered(planner_), IsEmpty());
  Pass(absl::Seconds(5));
  ASSERT_THAT(planner_.link->deliveries(), SizeIs(1));
  EXPECT_EQ(planner_.link->deliveries()[0].delivery_id(), "w-2/r1");
  EXPECT_TRUE(planner_.link->deliveries()[0].redelivered());
}

TEST_F(AskWaitTest, AReplyThatTheSessionHasAtAttachIsNotOfferedAgain) {
  Answered();
  Detach(planner_);
  planner_ = Attach("w-1");
  SayPresent(planner_, {"w-2/r1"});
  Pass(absl::Seconds(20));
  EXPECT_THAT(Offered(planner_), IsEmpty());
  EXPECT_EQ(RecordOf("w-2/r1").state(), v1::DELIVERY_STATE_INJECTED);
}

TEST_F(AskWaitTest, AReplyIsMailAtOnceWhereNobodyWaited) {
  AskInjected(planner_, "Builder", builder_, "a1");
  Pass(absl::Seconds(10));
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
  // Who waits after all has it too; the session knows it by its id.
  EXPECT_EQ(Await(planner_, "a1").Wait()->reply().delivery_id(), "w-2/r1");
}

TEST_F(AskWaitTest, OtherMailPassesAReplyThatIsSetAside) {
  Answered();
  for (int i = 0; i < 40; ++i) {
    EXPECT_THAT(
        Send(CallOf(builder_), "Planner", Message("m" + std::to_string(i))),
        IsOk());
  }
  // It takes no room in the window of 32.
  EXPECT_THAT(planner_.link->deliveries(), SizeIs(32));
  Pass(absl::Seconds(10));
  EXPECT_THAT(planner_.link->deliveries(), SizeIs(32));
  SayReceipt(planner_, "w-2/m0", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(Offered(planner_).back(), "r1");
}

TEST_F(AskWaitTest, AReplyStaysSetAsideWhileItsSessionIsBeingClosed) {
  Answered();
  OnState([&] {
    dispatcher_.BeginClosing("w-1", "nothing");
    return true;
  });
  EXPECT_EQ(WaitOf("w-2/r1"), v1::WAIT_REASON_AWAITED);
  Pass(absl::Seconds(10));
  EXPECT_EQ(WaitOf("w-2/r1"), v1::WAIT_REASON_CLOSING);
  EXPECT_THAT(Offered(planner_), IsEmpty());
  OnState([&] {
    dispatcher_.EndClosing("w-1");
    return true;
  });
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
}

TEST_F(AskWaitTest, AReplyThatTheHostCannotTakeIsToldToWhoReplied) {
  Answered();
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_FAILED, "no room");
  EXPECT_EQ(RecordOf("w-2/r1").end(), v1::DELIVERY_END_DEAD_LETTERED);
  EXPECT_THAT(NoticesOf(builder_, "DEAD_LETTERED"), SizeIs(1));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskWaitTest, WhatAShellAskedIsTheShells) {
  CallerEvidence shell;
  shell.ancestry = {OnState([&] { return roster_.Find("w-1")->host_pid; })};
  EXPECT_THAT(Send(shell, "Builder", Question("a1")), IsOk());
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_INJECTED);
  const auto waiting = Await(shell, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_EQ(waiting.Wait()->reply().delivery_id(), "w-2/r1");
  EXPECT_EQ(RecordOf("w-2/r1").state(), v1::DELIVERY_STATE_INJECTED);
  Pass(absl::Seconds(20));
  EXPECT_THAT(Offered(planner_), IsEmpty());
}

// --- A broker that starts with what another one left

// Rows of an earlier broker, which this one did not see come.
class AskRestartTest : public AskWaitTest {
 protected:
  void Leave(const std::string& id, absl::Duration time_left,
             const std::string& reply = "") {
    OnState([&] {
      NewDelivery ask;
      ask.envelope = Question(id);
      ask.sender = SenderNamed("w-1");
      ask.recipient_session_id = "w-2";
      ask.accepted_at = clock_.Now();
      const auto asked = deliveries_.Insert(ask);
      EXPECT_THAT(asked, IsOk());
      AskRow row;
      row.delivery_id = asked->record.delivery_id();
      row.sequence = asked->record.sequence();
      row.asker_session_id = "w-1";
      row.recipient_session_id = "w-2";
      row.asked_at = clock_.Now();
      row.deadline_at = clock_.Now() + time_left;
      EXPECT_THAT(ask_store_.Add(row), IsOk());
      if (reply.empty()) return true;
      NewDelivery answer;
      answer.envelope = Message(reply);
      answer.envelope.set_kind(v1::ENVELOPE_KIND_REPLY);
      answer.envelope.set_reply_to(row.delivery_id);
      answer.sender = SenderNamed("w-2");
      answer.recipient_session_id = "w-1";
      answer.accepted_at = clock_.Now();
      EXPECT_THAT(deliveries_.Insert(answer), IsOk());
      EXPECT_TRUE(
          *ask_store_.Answer(row.delivery_id, "w-2/" + reply, clock_.Now()));
      return true;
    });
  }
  void Start() {
    EXPECT_THAT(OnState([&] { return asks_.Load(); }), IsOk());
  }
};

TEST_F(AskRestartTest, AnAskGoesOnAndItsReplyAndEveryPlainSendPass) {
  Leave("a1", absl::Minutes(10));
  Start();
  EXPECT_THAT(Send(CallOf(builder_), "Planner", Message("m1")), IsOk());
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1"}), IsOk());
  EXPECT_THAT(Send(CallOf(planner_), "Builder", Message("m2")), IsOk());
  EXPECT_EQ(Await(planner_, "a1").Wait()->ask().state(),
            v1::Ask::STATE_ANSWERED);
}

TEST_F(AskRestartTest, AReplyThatWasNotShownIsKeptForWhoComesBackToWait) {
  Detach(planner_);
  Leave("a1", absl::Minutes(10), "r1");
  Start();
  planner_ = Join("w-1");
  EXPECT_THAT(Offered(planner_), IsEmpty());
  EXPECT_EQ(Await(planner_, "a1").Wait()->reply().delivery_id(), "w-2/r1");
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_INJECTED);
  Pass(absl::Seconds(20));
  EXPECT_THAT(Offered(planner_), IsEmpty());
}

TEST_F(AskRestartTest, AReplyThatNobodyComesBackForIsMail) {
  Detach(planner_);
  Leave("a1", absl::Minutes(10), "r1");
  Start();
  planner_ = Join("w-1");
  Pass(absl::Seconds(10));
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
}

TEST_F(AskRestartTest, TheDeadlineIsThatOfTheWallClock) {
  Leave("a1", absl::Seconds(30));
  Leave("over", -absl::Seconds(1));
  Start();
  Pass(absl::ZeroDuration());
  EXPECT_EQ(StateOf("w-1/over"), v1::Ask::STATE_TIMED_OUT);
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  Pass(absl::Seconds(30));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_TIMED_OUT);
}

TEST_F(AskRestartTest, ARecipientHasItsMomentToComeBackFromTheStartOn) {
  Detach(builder_);
  Leave("a1", absl::Minutes(10));
  Start();
  Pass(absl::Seconds(14));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  Pass(absl::Seconds(1));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_RECIPIENT_GONE);
}

TEST_F(AskRestartTest, TheEdgeOfAnAskComesBackWithItsWaits) {
  Leave("a1", absl::Minutes(10));
  Start();
  EXPECT_THAT(Ask(builder_, "Planner", "a2"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE"));
  Pass(absl::Seconds(10));
  EXPECT_THAT(Ask(builder_, "Planner", "a2"), IsOk());
}

}  // namespace
}  // namespace intercom
