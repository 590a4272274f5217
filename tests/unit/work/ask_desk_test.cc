// Asks: how they open and how they end.
#include "broker/work/ask_desk.h"

#include <future>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/ask_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AskDeskTest : public AskRig {};

// --- Opening

TEST_F(AskDeskTest, AnAskIsDeliveredAndItsReplyGoesToWhoeverWaits) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  EXPECT_EQ(waiting.count(), 0);

  const auto reply = Reply(builder_, "r1");

  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->envelope().kind(), v1::ENVELOPE_KIND_REPLY);
  EXPECT_EQ(reply->envelope().reply_to(), "w-1/a1");
  EXPECT_EQ(reply->recipient_session_id(), "w-1");
  EXPECT_EQ(reply->wait_reason(), v1::WAIT_REASON_AWAITED);
  const auto response = waiting.Wait();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->ask().state(), v1::Ask::STATE_ANSWERED);
  EXPECT_EQ(response->ask().reply_delivery_id(), "w-2/r1");
  EXPECT_EQ(response->reply().envelope().text(), "text of r1");
  EXPECT_EQ(response->reply().sender().name(), "Builder");
  EXPECT_THAT(Offered(planner_), IsEmpty());
  EXPECT_EQ(RecordOf("w-1/a1").state(), v1::DELIVERY_STATE_REPLIED);
}

TEST_F(AskDeskTest, AnAskToADeadTargetDoesNotWaitForItsTimeButIsRefused) {
  Detach(builder_);
  const auto refused = Ask(planner_, "Builder", "a1");
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "RECIPIENT_AWAY"));
  EXPECT_THAT(MessageOf(refused.status()),
              AllOf(HasSubstr("Builder"), HasSubstr("message")));
  EXPECT_EQ(MailboxOf("w-2").envelopes, 0);
}

TEST_F(AskDeskTest, AnAskToNobodyOrToOneselfIsRefused) {
  EXPECT_THAT(Ask(planner_, "", "a1"),
              FailsWith(absl::StatusCode::kInvalidArgument, "TARGET_EMPTY"));
  EXPECT_THAT(Ask(planner_, "Planner", "a2"),
              FailsWith(absl::StatusCode::kInvalidArgument, "SELF_TARGET"));
}

TEST_F(AskDeskTest, ASecondAskToTheSameSessionNamesTheFirst) {
  EXPECT_THAT(
      Send(CallOf(planner_), "Builder", Question("a1-first", "Which branch?")),
      IsOk());
  Pass(absl::Minutes(2));
  const auto refused = Ask(planner_, "Builder", "a2");
  EXPECT_THAT(refused,
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_OPEN"));
  EXPECT_THAT(MessageOf(refused.status()),
              AllOf(HasSubstr("a1-first"), HasSubstr("2 min"),
                    HasSubstr("Which branch?"), HasSubstr("cancel")));
}

TEST_F(AskDeskTest, EightAsksOfOneSessionMayBeOpen) {
  std::vector<TestAgent> team = {{"c-1", "Coordinator"}, {"w-1", "Planner"}};
  for (int i = 0; i < 9; ++i) {
    team.push_back({"o-" + std::to_string(i), "Other" + std::to_string(i)});
  }
  WriteConfig(root_, ConfigText(team));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  std::vector<TestSession> others;
  for (int i = 0; i < 9; ++i) others.push_back(Join("o-" + std::to_string(i)));
  for (int i = 0; i < 8; ++i) {
    AskInjected(planner_, "Other" + std::to_string(i), others[i],
                "a" + std::to_string(i));
  }
  EXPECT_THAT(Ask(planner_, "Other8", "a8"),
              FailsWith(absl::StatusCode::kResourceExhausted, "ASKS_FULL"));
  EXPECT_THAT(List(CallOf(planner_), /*sent=*/true), SizeIs(8));

  EXPECT_THAT(Reply(others[0], "r0"), IsOk());
  EXPECT_THAT(Ask(planner_, "Other8", "a8"), IsOk());
}

// --- Repeats: the extension repeats a call whose answer it did not see

TEST_F(AskDeskTest, ARepeatedAskHasItsFirstAnswerWhileItIsOpen) {
  const auto first = Ask(planner_, "Builder", "a1");
  ASSERT_THAT(first, IsOk());
  const auto again = Ask(planner_, "Builder", "a1");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->sequence(), first->sequence());
  EXPECT_THAT(Offered(builder_), ElementsAre("a1"));
  EXPECT_THAT(Pending(builder_), SizeIs(1));
}

TEST_F(AskDeskTest, ARepeatedAskThatIsAnsweredStaysAnswered) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_ANSWERED);
  EXPECT_THAT(Pending(builder_), IsEmpty());
  EXPECT_THAT(Offered(builder_), ElementsAre("a1"));
}

TEST_F(AskDeskTest, ARepeatedAskWhoseRecipientHasGoneHasItsFirstAnswer) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  Detach(builder_);
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  // Another under the same id is no repeat.
  EXPECT_THAT(
      Send(CallOf(planner_), "Builder", Question("a1", "Other?")),
      FailsWith(absl::StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED"));
}

TEST_F(AskDeskTest, ARepeatedReplyHasItsFirstAnswer) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto first = Reply(builder_, "r1");
  ASSERT_THAT(first, IsOk());
  const auto again = Reply(builder_, "r1");
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->sequence(), first->sequence());
  EXPECT_EQ(again->envelope().kind(), v1::ENVELOPE_KIND_REPLY);
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1"}), IsOk());
  EXPECT_EQ(MailboxOf("w-1").envelopes, 1);
}

// --- Cycles

TEST_F(AskDeskTest, CrossedAsksAreRefusedInsteadOfDeadlocking) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1-of-planner"), IsOk());
  const auto refused = Ask(builder_, "Planner", "a2");
  EXPECT_THAT(refused,
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE"));
  EXPECT_THAT(MessageOf(refused.status()),
              AllOf(HasSubstr("Planner waits for you, reply to it"),
                    HasSubstr("a1-of-planner")));
  EXPECT_THAT(Offered(planner_), IsEmpty());

  // Answering first opens the way.
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1-of-planner"}), IsOk());
  EXPECT_THAT(Ask(builder_, "Planner", "a2"), IsOk());
}

TEST_F(AskDeskTest, AsksThatCrossInTheSameMomentAreRefusedToo) {
  // One batch: the second is decided before the first is in memory.
  RecordAnswer first, second;
  std::promise<void> held, release;
  runner_->PostTask([&] {
    held.set_value();
    release.get_future().wait();
  });
  held.get_future().wait();
  const auto post = [this](const TestSession& from, const TestSession& to,
                           const std::string& id, RecordAnswer& answer) {
    runner_->PostCommand(
        {[this, from, to, id,
          put = answer.Callback()](Effects& effects) -> absl::Status {
           DecidedCall call;
           call.caller = {v1::ORIGIN_SESSION, from.key.session_id,
                          from.key.session_id, from.key.epoch};
           const PeerTarget target{to.key.session_id, "", true, true};
           absl::Status may = asks_.CheckAsk(call, target, Question(id));
           if (!may.ok()) {
             put(may);
             return may;
           }
           auto record =
               dispatcher_.Accept(*ValidatedEnvelope::FromClient(Question(id)),
                                  SenderNamed(from.key.session_id),
                                  {to.key.session_id, "", {}}, effects);
           put(record);
           return asks_.OnAccepted(*record, "", effects);
         },
         nullptr});
  };
  post(planner_, builder_, "a1", first);
  post(builder_, planner_, "a2", second);
  release.set_value();
  EXPECT_THAT(first.Wait(), IsOk());
  EXPECT_THAT(second.Wait(),
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE"));
}

TEST_F(AskDeskTest, ACycleOfThreeIsRefusedAndNamed) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  EXPECT_THAT(Ask(builder_, "Tester", "a2"), IsOk());
  const auto refused = Ask(tester_, "Planner", "a3");
  EXPECT_THAT(refused,
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE"));
  EXPECT_THAT(MessageOf(refused.status()),
              AllOf(HasSubstr("Planner waits for Builder, Builder waits for "
                              "you"),
                    HasSubstr("Builder waits for you, reply to it")));
}

TEST_F(AskDeskTest, ACycleOfFiveIsRefused) {
  EXPECT_THAT(Ask(coordinator_, "Planner", "a1"), IsOk());
  EXPECT_THAT(Ask(planner_, "Builder", "a2"), IsOk());
  EXPECT_THAT(Ask(builder_, "Tester", "a3"), IsOk());
  EXPECT_THAT(Ask(tester_, "Writer", "a4"), IsOk());
  EXPECT_THAT(Ask(writer_, "Coordinator", "a5"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE"));
  EXPECT_THAT(Ask(coordinator_, "Writer", "a6"), IsOk());
}

TEST_F(AskDeskTest, AnAskerThatReturnedIsAskedWhenNobodyWaitsForItsOwnAsk) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  const auto waiting = Await(planner_, "a1");
  Pass(absl::Seconds(20));
  Detach(planner_);
  Pass(absl::Seconds(11));  // Its wait of 30 s ends, and with it the edge soon.
  planner_ = Join("w-1");
  EXPECT_THAT(Ask(builder_, "Planner", "a2"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "ASK_CYCLE"));
  Pass(absl::Seconds(10));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  EXPECT_THAT(Ask(builder_, "Planner", "a2"), IsOk());
}

TEST_F(AskDeskTest, WhoWaitsForWhomIsKnownWhileSomebodyWaits) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  EXPECT_THAT(Ask(planner_, "Tester", "a2"), IsOk());
  const auto waits_for = [this](const char* id) {
    return OnState([&] { return asks_.WaitsFor(id); });
  };
  EXPECT_THAT(waits_for("w-1"), ElementsAre("w-2", "w-3"));
  EXPECT_THAT(waits_for("w-2"), IsEmpty());
  const auto waiting = Await(planner_, "a2");
  Pass(absl::Seconds(10));
  EXPECT_THAT(waits_for("w-1"), ElementsAre("w-3"));
}

// --- Ends

TEST_F(AskDeskTest, AnAskEndsWithItsTimeAndALateReplyIsMail) {
  AskInjected(planner_, "Builder", builder_, "a1");
  Pass(absl::Minutes(10) - absl::Seconds(5));
  const auto waiting = Await(planner_, "a1");
  Pass(absl::Seconds(5));
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_TIMED_OUT);
  EXPECT_FALSE(waiting.Wait()->has_reply());
  EXPECT_EQ(AskOf("w-1/a1").settled_at, clock_.Now());

  const auto reply = Reply(builder_, "r1");

  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->envelope().kind(), v1::ENVELOPE_KIND_REPLY);
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
  EXPECT_EQ(AskOf("w-1/a1").state, v1::Ask::STATE_TIMED_OUT);
  EXPECT_EQ(AskOf("w-1/a1").reply_delivery_id, "w-2/r1");
  EXPECT_THAT(Pending(builder_), IsEmpty());
}

TEST_F(AskDeskTest, ASetClockEndsNoAsk) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  clock_.Jump(absl::Hours(1));
  Pass(absl::Seconds(1));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  clock_.Jump(-absl::Hours(3));
  Pass(absl::Minutes(10));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_TIMED_OUT);
}

TEST_F(AskDeskTest, ARecipientThatDiesEndsItsAskAfterAMoment) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  Detach(builder_);
  Pass(absl::Seconds(14));
  EXPECT_EQ(waiting.count(), 0);
  Pass(absl::Seconds(1));
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_RECIPIENT_GONE);

  // Back after all, it still sees what it was asked.
  builder_ = Attach("w-2");
  EXPECT_THAT(Told(builder_), ElementsAre(ElementsAre("w-1/a1")));
  SayPresent(builder_, {"w-1/a1"});
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
}

TEST_F(AskDeskTest, ARecipientThatIsBackInTimeGoesOn) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  for (int i = 0; i < 2; ++i) {
    Detach(builder_);
    Pass(absl::Seconds(10));
    builder_ = Attach("w-2");
    SayPresent(builder_, {"w-1/a1"});
  }
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskDeskTest, AWaiterDoesNotStayAfterAFailedDelivery) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  const auto waiting = Await(planner_, "a1");
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_FAILED, "no room");
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_RECIPIENT_GONE);
  // The wait is how its sender hears of it.
  EXPECT_THAT(NoticesOf(planner_, "DEAD_LETTERED"), IsEmpty());
}

TEST_F(AskDeskTest, AFailedDeliveryThatNobodyWaitsForIsToldByANotice) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_FAILED, "no room");
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_RECIPIENT_GONE);
  EXPECT_THAT(NoticesOf(planner_, "DEAD_LETTERED"), SizeIs(1));
}

TEST_F(AskDeskTest, AnAskWhoseMailIsRefusedEnds) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  const auto waiting = Await(planner_, "a1");
  Detach(builder_);
  Answer<absl::StatusOr<int64_t>> refused;
  runner_->PostTask([&] {
    dispatcher_.RefuseMail("w-2", "it was removed", refused.Callback());
  });
  EXPECT_EQ(*refused.Wait(), 1);
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_RECIPIENT_GONE);
  EXPECT_THAT(NoticesOf(planner_, "REFUSED"), IsEmpty());
}

TEST_F(AskDeskTest, TheEndOfAReplyIsToldToWhoRepliedOnce) {
  // To one without an entry, whose mail is kept for a day.
  const TestSession peer = AttachPeer("p-1");
  EXPECT_THAT(
      PostAccept(Question("a1"), SenderNamed("p-1"), {"w-2", "Builder", {}})
          .Wait(),
      IsOk());
  SayReceipt(builder_, "p-1/a1", v1::Receipt::EVENT_INJECTED);
  Detach(peer);
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "p-1/a1"}), IsOk());
  for (int i = 0; i < 2; ++i) {
    Pass(absl::Hours(24));
    dispatcher_.ExpireDue();
    Sync();
  }
  EXPECT_EQ(RecordOf("w-2/r1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_THAT(NoticesOf(builder_, "EXPIRED"), SizeIs(1));
}

TEST_F(AskDeskTest, ASecondAskAfterACancelIsNotRefused) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  EXPECT_THAT(TakeBack(CallOf(planner_), "a1"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_CANCELLED);
  EXPECT_THAT(Pending(builder_), IsEmpty());
  EXPECT_THAT(Ask(planner_, "Builder", "a2"), IsOk());
}

TEST_F(AskDeskTest, AnAskThatIsTakenBackTooLateAsksToBeDisregarded) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto late = TakeBack(CallOf(planner_), "a1", /*request_if_late=*/true);
  ASSERT_THAT(late, IsOk());
  EXPECT_TRUE(late->requested());
  ASSERT_THAT(NoticesOf(builder_, "CANCELLATION_REQUEST"), SizeIs(1));
  EXPECT_THAT(NoticesOf(builder_, "CANCELLATION_REQUEST")[0].envelope().text(),
              HasSubstr("question a1"));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_CANCELLED);
}

TEST_F(AskDeskTest, OnlyItsSenderCancelsAnAsk) {
  AskInjected(planner_, "Builder", builder_, "a1");
  for (const CallerEvidence& other : {CallOf(builder_), Person()}) {
    EXPECT_THAT(TakeBack(other, "a1", /*request_if_late=*/true),
                FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE"));
  }
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
}

TEST_F(AskDeskTest, ASupersedingAskTakesThePlaceOfTheFirst) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  v1::Envelope second = Question("a2");
  second.set_supersedes("a1");
  EXPECT_THAT(Send(CallOf(planner_), "Builder", second), IsOk());
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_CANCELLED);
  EXPECT_THAT(Pending(builder_), ElementsAre("w-1/a2"));
  // To another it replaces nothing.
  v1::Envelope other = Question("a3");
  other.set_supersedes("a2");
  EXPECT_THAT(
      Send(CallOf(planner_), "Tester", other),
      FailsWith(absl::StatusCode::kFailedPrecondition, "SUPERSEDES_OTHER"));
  EXPECT_EQ(StateOf("w-1/a2"), v1::Ask::STATE_OPEN);
}

// --- What crosses

TEST_F(AskDeskTest, AReplyAndTheEndOfItsTimeCrossAndOneOfThemHolds) {
  AskInjected(planner_, "Builder", builder_, "a1");
  Pass(absl::Minutes(10) - absl::Seconds(5));
  const auto waiting = Await(planner_, "a1");
  // The reply is on disk first: the time, over in the same moment, is late.
  clock_.Advance(absl::Seconds(5));
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  Pass(absl::ZeroDuration());
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_ANSWERED);
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskDeskTest, AReplyAfterItsAskWasTakenBackIsAMessage) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(TakeBack(CallOf(planner_), "a1", true), IsOk());
  const auto reply = Reply(builder_, "r1", {.trigger = "w-1/a1"});
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->envelope().kind(), v1::ENVELOPE_KIND_MESSAGE);
  EXPECT_EQ(reply->envelope().reply_to(), "w-1/a1");
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_CANCELLED);
}

TEST_F(AskDeskTest, AWithdrawalAfterTheReplyChangesNothing) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(TakeBack(CallOf(planner_), "a1"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskDeskTest, OfTwoRepliesTheFirstAnswersAndTheSecondIsAMessage) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1"}), IsOk());
  const auto second = Reply(builder_, "r2", {.reply_to = "w-1/a1"});
  ASSERT_THAT(second, IsOk());
  EXPECT_EQ(second->envelope().kind(), v1::ENVELOPE_KIND_MESSAGE);
  EXPECT_EQ(waiting.Wait()->reply().delivery_id(), "w-2/r1");
  EXPECT_THAT(Offered(planner_), ElementsAre("r2"));
}

TEST_F(AskDeskTest, ACorrectedReplyReplacesOneThatNobodyHasTaken) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());  // Set aside: it was just asked.
  const auto better =
      Reply(builder_, "r2", {.reply_to = "w-1/a1", .supersedes = "r1"});
  ASSERT_THAT(better, IsOk());
  EXPECT_EQ(better->envelope().kind(), v1::ENVELOPE_KIND_REPLY);
  EXPECT_EQ(RecordOf("w-2/r1").end(), v1::DELIVERY_END_SUPERSEDED);
  EXPECT_EQ(Await(planner_, "a1").Wait()->reply().delivery_id(), "w-2/r2");
}

TEST_F(AskDeskTest, ACorrectionOfAReplyThatWasTakenComesAsMail) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(waiting.Wait(), IsOk());
  SayReceipt(planner_, "w-2/r1", v1::Receipt::EVENT_INJECTED);
  Pass(absl::Seconds(11));  // The broker remembers nobody who waited for it.
  EXPECT_THAT(Reply(builder_, "r2", {.reply_to = "w-1/a1", .supersedes = "r1"}),
              IsOk());
  EXPECT_THAT(Offered(planner_), ElementsAre("r2"));
}

TEST_F(AskDeskTest, ARepeatedReplyIsNotTakenFromTheWait) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1"}), IsOk());
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1"}), IsOk());
  EXPECT_THAT(Offered(planner_), IsEmpty());
  EXPECT_EQ(Await(planner_, "a1").Wait()->reply().delivery_id(), "w-2/r1");
}

TEST_F(AskDeskTest, ARepeatedAskIsNotRefusedBecauseOfItself) {
  v1::SendRequest request;
  *request.mutable_envelope() = Question("a1", "Which one?");
  request.set_to("Builder@project");  // No name that is stored.
  request.set_reach(v1::REACH_ACCOUNT);
  for (int i = 0; i < 2; ++i) {
    RecordAnswer answer;
    mail_.Send(CallOf(planner_), request, answer.Callback());
    const auto record = answer.Wait();
    ASSERT_THAT(record, IsOk()) << i;
    EXPECT_EQ(record->delivery_id(), "w-1/a1");
  }
  Detach(builder_);
  Pass(absl::Seconds(6));  // And nor because its recipient has left since.
  RecordAnswer answer;
  mail_.Send(CallOf(planner_), request, answer.Callback());
  EXPECT_THAT(answer.Wait(), IsOk());
}

TEST_F(AskDeskTest, AReplyThatIsTakenBackLeavesTheQuestionOpen) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(TakeBack(CallOf(builder_), "r1"), IsOk());
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  EXPECT_THAT(Pending(builder_), ElementsAre("w-1/a1"));
  const auto waiting = Await(planner_, "a1");
  EXPECT_THAT(Reply(builder_, "r2"), IsOk());
  EXPECT_EQ(waiting.Wait()->reply().delivery_id(), "w-2/r2");
}

// --- What the asked session is told

TEST_F(AskDeskTest, APersonsAskIsAwaitedUntilItsEndWhoeverWaits) {
  EXPECT_THAT(Send(Person(), "Builder", Question("a1"), root_), IsOk());
  Pass(absl::Seconds(30));
  const auto frames = builder_.link->Of(v1::AttachResponse::kPendingAsks);
  EXPECT_TRUE(frames.back().pending_asks().asks(0).awaited());
  // Its answer goes to the mailbox at once.
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_NE(RecordOf("w-2/r1").wait_reason(), v1::WAIT_REASON_AWAITED);
  EXPECT_THAT(Told(builder_).back(), IsEmpty());
}

TEST_F(AskDeskTest, ARecipientIsToldWhatWaitsForItsAnswer) {
  EXPECT_THAT(Told(builder_), IsEmpty());
  EXPECT_THAT(Send(CallOf(planner_), "Builder", Question("a1", "Which\none?")),
              IsOk());
  const auto frames = builder_.link->Of(v1::AttachResponse::kPendingAsks);
  ASSERT_THAT(frames, SizeIs(1));
  const v1::Ask& ask = frames[0].pending_asks().asks(0);
  EXPECT_EQ(ask.delivery_id(), "w-1/a1");
  EXPECT_EQ(ask.asker().name(), "Planner");
  EXPECT_EQ(ask.recipient_name(), "Builder");
  EXPECT_EQ(ask.preview(), "Which one?");
  EXPECT_EQ(FromProto(ask.deadline_at()), clock_.Now() + absl::Minutes(10));
  EXPECT_TRUE(ask.awaited());
  EXPECT_EQ(ask.delivery_state(), v1::DELIVERY_STATE_ACCEPTED);

  Pass(absl::Seconds(10));
  const auto lapsed = builder_.link->Of(v1::AttachResponse::kPendingAsks);
  ASSERT_THAT(lapsed, SizeIs(2));
  EXPECT_FALSE(lapsed[1].pending_asks().asks(0).awaited());
  Pass(absl::Seconds(10));
  EXPECT_THAT(Told(builder_), SizeIs(2));

  const auto waiting = Await(planner_, "a1");
  const auto again = builder_.link->Of(v1::AttachResponse::kPendingAsks);
  ASSERT_THAT(again, SizeIs(3));
  EXPECT_TRUE(again[2].pending_asks().asks(0).awaited());
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  EXPECT_THAT(Told(builder_).back(), IsEmpty());
}

TEST_F(AskDeskTest, APendingAskCanBeAnsweredOnceItsAskerLeft) {
  AskInjected(planner_, "Builder", builder_, "a1");
  Detach(planner_);
  Pass(absl::Seconds(11));
  EXPECT_THAT(Pending(builder_), ElementsAre("w-1/a1"));
  const auto reply = Reply(builder_, "r1");
  ASSERT_THAT(reply, IsOk());
  EXPECT_EQ(reply->wait_reason(), v1::WAIT_REASON_AWAY);
  EXPECT_THAT(Pending(builder_), IsEmpty());
  EXPECT_THAT(Offered(Join("w-1")), ElementsAre("r1"));
}

TEST_F(AskDeskTest, AnUnansweredAskIsListedForADay) {
  AskInjected(planner_, "Builder", builder_, "a1");
  Pass(absl::Hours(23));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_TIMED_OUT);
  EXPECT_THAT(Pending(builder_), ElementsAre("w-1/a1"));
  EXPECT_THAT(List(CallOf(planner_), /*sent=*/true), IsEmpty());
  Pass(absl::Hours(1));
  EXPECT_THAT(Pending(builder_), IsEmpty());
  // By its name it is answered all the same.
  EXPECT_EQ(Reply(builder_, "r1", {.reply_to = "w-1/a1"})->envelope().kind(),
            v1::ENVELOPE_KIND_REPLY);
}

TEST_F(AskDeskTest, AnAnsweredAskIsNotInjectedAgain) {
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  Detach(builder_);
  builder_ = Join("w-2");  // It says that it has nothing.
  EXPECT_THAT(Offered(builder_), IsEmpty());
}

TEST_F(AskDeskTest, AnAskThatIsAnsweredBeforeItWasShownIsTakenBack) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_HELD, "",
             v1::WAIT_REASON_COMPACTION);
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "w-1/a1"}), IsOk());
  const auto frames = builder_.link->Of(v1::AttachResponse::kWithdraw);
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].withdraw().delivery_id(), "w-1/a1");
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_WITHDRAWN);
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskDeskTest, TwoSendersWithTheSameIdDoNotCross) {
  AskInjected(planner_, "Builder", builder_, "same-id");
  AskInjected(tester_, "Builder", builder_, "same-id");
  const auto refused = Reply(builder_, "r0", {.reply_to = "same-id"});
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "AMBIGUOUS_REPLY"));
  EXPECT_THAT(MessageOf(refused.status()),
              AllOf(HasSubstr("w-1/same-id"), HasSubstr("w-3/same-id")));
  EXPECT_THAT(TakeBack(CallOf(tester_), "same-id", true), IsOk());
  EXPECT_EQ(StateOf("w-1/same-id"), v1::Ask::STATE_OPEN);
  EXPECT_EQ(StateOf("w-3/same-id"), v1::Ask::STATE_CANCELLED);
  const auto waiting = Await(planner_, "same-id");
  EXPECT_THAT(Reply(builder_, "r1", {.reply_to = "same-id"}), IsOk());
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskDeskTest, AnAskGoesWithItsMailToTheHeirOfItsMailbox) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  Detach(builder_);
  // As the mailbox of w-2 is given to w-3.
  runner_->PostCommand({[this](Effects& effects) -> absl::Status {
                          effects.AfterCommit(
                              [this] { asks_.OnMailMoved("w-2", "w-3"); });
                          return dispatcher_
                              .MoveMail("w-2", /*left_sequence=*/0, "w-3",
                                        "as the test says", effects)
                              .status();
                        },
                        nullptr});
  Sync();
  EXPECT_THAT(Told(tester_).back(), ElementsAre("w-1/a1"));
  Pass(absl::Seconds(20));
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  EXPECT_EQ(Reply(tester_, "r1")->envelope().reply_to(), "w-1/a1");
}

}  // namespace
}  // namespace intercom
