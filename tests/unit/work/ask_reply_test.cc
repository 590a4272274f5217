// What a reply, or a plain message, answers.
#include <unistd.h>

#include <string>

#include "broker/base/error.h"
#include "broker/work/age_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/ask_rig.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AskReplyTest : public AskRig {
 protected:
  // A plain message that is in the recipient's session.
  void SendInjected(const TestSession& from, const std::string& to,
                    const TestSession& recipient, const std::string& id) {
    const auto record = Send(CallOf(from), to, Message(id));
    ASSERT_THAT(record, IsOk());
    SayReceipt(recipient, record->delivery_id(), v1::Receipt::EVENT_INJECTED);
  }
  static std::string Answered(
      const absl::StatusOr<v1::DeliveryRecord>& record) {
    EXPECT_THAT(record, IsOk());
    if (!record.ok()) return ReasonOf(record.status());
    return (record->envelope().kind() == v1::ENVELOPE_KIND_REPLY ? "reply to "
                                                                 : "about ") +
           record->envelope().reply_to();
  }
  static std::string RefusalOf(const absl::StatusOr<v1::DeliveryRecord>& record,
                               absl::StatusCode code,
                               const std::string& reason) {
    EXPECT_THAT(record, FailsWith(code, reason));
    return MessageOf(record.status());
  }
};

constexpr absl::StatusCode kNotFound = absl::StatusCode::kNotFound;
constexpr absl::StatusCode kAmbiguous = absl::StatusCode::kFailedPrecondition;

// --- Named

TEST_F(AskReplyTest, AReplyNamesItsAskByAnyOfItsIds) {
  int count = 0;
  for (const char* name :
       {"w-1/0-abcd-long", "1-abcd-long", "2-abcd", "3-abcd-l"}) {
    const std::string id = std::to_string(count++) + "-abcd-long";
    AskInjected(planner_, "Builder", builder_, id);
    EXPECT_EQ(Answered(Reply(builder_, "r-" + id, {.reply_to = name})),
              "reply to w-1/" + id);
  }
}

TEST_F(AskReplyTest, AnExplicitReplyTargetIsNotIgnored) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  AskInjected(tester_, "Builder", builder_, "of-tester");
  EXPECT_EQ(
      Answered(Reply(builder_, "r1",
                     {.reply_to = "of-planner", .trigger = "w-3/of-tester"})),
      "reply to w-1/of-planner");
}

TEST_F(AskReplyTest, APrefixOfTwoAsksIsRefusedWithWhatTellsThemApart) {
  AskInjected(planner_, "Builder", builder_, "01234567-aaaa-1");
  AskInjected(tester_, "Builder", builder_, "01234567-aabb-2");
  const std::string refusal =
      RefusalOf(Reply(builder_, "r1", {.reply_to = "01234567"}), kAmbiguous,
                "AMBIGUOUS_REPLY");
  EXPECT_THAT(refusal, AllOf(HasSubstr("Planner, 01234567-aaa,"),
                             HasSubstr("Tester, 01234567-aab,"),
                             HasSubstr("\"question 01234567-aaaa-1\"")));
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.reply_to = "01234567-aaa"})),
            "reply to w-1/01234567-aaaa-1");
}

TEST_F(AskReplyTest, AnAskIsPreferredToAMessageWithTheSamePrefix) {
  SendInjected(tester_, "Builder", builder_, "01234567-message");
  AskInjected(planner_, "Builder", builder_, "01234567-ask");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.reply_to = "01234567"})),
            "reply to w-1/01234567-ask");
}

TEST_F(AskReplyTest, AWholeIdIsPreferredToOneThatBeginsWithIt) {
  AskInjected(planner_, "Builder", builder_, "01234567");
  AskInjected(tester_, "Builder", builder_, "01234567-longer");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.reply_to = "01234567"})),
            "reply to w-1/01234567");
}

TEST_F(AskReplyTest, ATargetThatNobodySentHereIsUnknown) {
  AskInjected(planner_, "Builder", builder_, "a1-of-planner");
  // Too short, of nobody, or of nothing.
  for (const char* other : {"a1-of", "nobody", "w-1/nothing"}) {
    RefusalOf(Reply(builder_, "r1", {.reply_to = other}), kNotFound,
              "UNKNOWN_REPLY_TARGET");
  }
  // What was sent to another is not this session's to answer.
  RefusalOf(Reply(tester_, "r1", {.reply_to = "w-1/a1-of-planner"}), kNotFound,
            "UNKNOWN_REPLY_TARGET");
  RefusalOf(Reply(tester_, "r2", {.reply_to = "a1-of-planner"}), kNotFound,
            "UNKNOWN_REPLY_TARGET");
  EXPECT_EQ(StateOf("w-1/a1-of-planner"), v1::Ask::STATE_OPEN);
}

TEST_F(AskReplyTest, TheRecipientAndTheReplyTargetMustAgree) {
  AskInjected(planner_, "Builder", builder_, "a1-of-planner");
  EXPECT_THAT(RefusalOf(Reply(builder_, "r1",
                              {.to = "Tester", .reply_to = "a1-of-planner"}),
                        kNotFound, "UNKNOWN_REPLY_TARGET"),
              AllOf(HasSubstr("Tester"), HasSubstr("Planner did")));
  EXPECT_EQ(Answered(Reply(builder_, "r1",
                           {.to = "Planner", .reply_to = "a1-of-planner"})),
            "reply to w-1/a1-of-planner");
}

TEST_F(AskReplyTest, AReplyToAPlainMessageIsAMessageThatAnswersIt) {
  SendInjected(planner_, "Builder", builder_, "m1-of-planner");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.reply_to = "m1-of-planner"})),
            "about w-1/m1-of-planner");
  EXPECT_EQ(RecordOf("w-1/m1-of-planner").state(), v1::DELIVERY_STATE_REPLIED);
  EXPECT_THAT(Offered(planner_), ElementsAre("r1"));
}

TEST_F(AskReplyTest, APlainMessageThatNamesAnAskIsItsReply) {
  AskInjected(planner_, "Builder", builder_, "a1-of-planner");
  v1::Envelope message = Message("m1");
  message.set_reply_to("a1-of-planner");
  EXPECT_EQ(Answered(Send(CallOf(builder_), "Planner", message)),
            "reply to w-1/a1-of-planner");
}

// --- By the recipient alone

TEST_F(AskReplyTest, AReplyToASessionAnswersItsAsk) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  AskInjected(tester_, "Builder", builder_, "of-tester");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.to = "Planner"})),
            "reply to w-1/of-planner");
}

TEST_F(AskReplyTest, AReplyToASessionThatAskedNothingAnswersItsLastMessage) {
  SendInjected(planner_, "Builder", builder_, "m1");
  SendInjected(planner_, "Builder", builder_, "m2");
  SendInjected(tester_, "Builder", builder_, "m3");
  // This one is not in the session yet.
  EXPECT_THAT(Send(CallOf(planner_), "Builder", Message("m4")), IsOk());
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.to = "Planner"})), "about w-1/m2");
}

TEST_F(AskReplyTest, AReplyToASessionThatSaidNothingIsRefused) {
  AskInjected(tester_, "Builder", builder_, "of-tester");
  RefusalOf(Reply(builder_, "r1", {.to = "Planner"}), kNotFound,
            "NOTHING_TO_REPLY_TO");
}

TEST_F(AskReplyTest, OfALateAskAndAnOpenOneOfASessionTheAwaitedIsAnswered) {
  AskInjected(planner_, "Builder", builder_, "late");
  Pass(absl::Minutes(11));
  AskInjected(planner_, "Builder", builder_, "open");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.to = "Planner"})),
            "reply to w-1/open");
  EXPECT_EQ(Answered(Reply(builder_, "r2", {.to = "Planner"})),
            "reply to w-1/late");
}

// --- By nothing but the turn

TEST_F(AskReplyTest, AReplyAnswersTheAskThatStartedTheTurnNotTheLast) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  AskInjected(tester_, "Builder", builder_, "of-tester");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.trigger = "w-1/of-planner"})),
            "reply to w-1/of-planner");
}

TEST_F(AskReplyTest, ASteeredNoteDoesNotSendTheReplyToAnother) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  SendInjected(tester_, "Builder", builder_, "note");
  EXPECT_THAT(RefusalOf(Reply(builder_, "r1", {.trigger = "w-3/note"}),
                        kAmbiguous, "AMBIGUOUS_REPLY"),
              AllOf(HasSubstr("Planner"), HasSubstr("Tester")));
  EXPECT_EQ(StateOf("w-1/of-planner"), v1::Ask::STATE_OPEN);
}

TEST_F(AskReplyTest, ANoteOfTheAskerItselfLeavesNoDoubt) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  SendInjected(planner_, "Builder", builder_, "note");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.trigger = "w-1/note"})),
            "reply to w-1/of-planner");
}

TEST_F(AskReplyTest, ATurnOfAnAnsweredAskDoesNotAnswerTheNextOne) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  EXPECT_THAT(Reply(builder_, "r1"), IsOk());
  AskInjected(tester_, "Builder", builder_, "of-tester");
  RefusalOf(Reply(builder_, "r2", {.trigger = "w-1/of-planner"}), kAmbiguous,
            "AMBIGUOUS_REPLY");
}

TEST_F(AskReplyTest, ANoticeThatStartedTheTurnIsNoDoubt) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  EXPECT_THAT(Notice("w-3", "REGISTERED", "Tester came", "w-2"), IsOk());
  const auto notices = NoticesOf(builder_, "REGISTERED");
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(
      Answered(Reply(builder_, "r1", {.trigger = notices[0].delivery_id()})),
      "reply to w-1/of-planner");
  RefusalOf(Reply(builder_, "r2", {.trigger = notices[0].delivery_id()}),
            kNotFound, "NOTHING_TO_REPLY_TO");
}

TEST_F(AskReplyTest, TheSinglePendingAskIsAnswered) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  EXPECT_EQ(Answered(Reply(builder_, "r1")), "reply to w-1/of-planner");
}

TEST_F(AskReplyTest, TheSingleAskThatSomebodyWaitsForIsAnswered) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  AskInjected(tester_, "Builder", builder_, "of-tester");
  const auto waiting = Await(tester_, "of-tester");
  Pass(absl::Seconds(10));
  EXPECT_EQ(Answered(Reply(builder_, "r1")), "reply to w-3/of-tester");
}

TEST_F(AskReplyTest, SeveralPendingAsksAreListedWithWhatTellsThemApart) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  Pass(absl::Seconds(40));
  AskInjected(tester_, "Builder", builder_, "of-tester");
  AskInjected(writer_, "Builder", builder_, "of-writer");
  EXPECT_THAT(RefusalOf(Reply(builder_, "r1"), kAmbiguous, "AMBIGUOUS_REPLY"),
              AllOf(HasSubstr("Planner, of-plann, 40 s ago: \"question "
                              "of-planner\""),
                    HasSubstr("Tester, of-teste"), HasSubstr("Writer"),
                    Not(HasSubstr("more"))));
}

TEST_F(AskReplyTest, WithNothingPendingAReplyAnswersTheMessageOfTheTurn) {
  SendInjected(planner_, "Builder", builder_, "m1");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.trigger = "w-1/m1"})),
            "about w-1/m1");
  RefusalOf(Reply(builder_, "r2"), kNotFound, "NOTHING_TO_REPLY_TO");
  // A turn that nobody sent, or that another got.
  RefusalOf(Reply(tester_, "r3", {.trigger = "w-1/m1"}), kNotFound,
            "NOTHING_TO_REPLY_TO");
}

TEST_F(AskReplyTest, AReplyToASessionThatExitedFindsIt) {
  AskInjected(planner_, "Builder", builder_, "of-planner");
  Detach(planner_);
  EXPECT_EQ(Answered(Reply(builder_, "r1")), "reply to w-1/of-planner");
  Pass(absl::Seconds(11));
  EXPECT_THAT(Offered(Join("w-1")), ElementsAre("r1"));
}

TEST_F(AskReplyTest, AttachmentsOfAReplyReachWhoeverWaits) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  v1::Envelope reply = Message("r1");
  reply.set_kind(v1::ENVELOPE_KIND_REPLY);
  v1::MessageAttachment& attachment = *reply.add_attachments();
  attachment.set_type(v1::MessageAttachment::TYPE_SNIPPET);
  attachment.set_name("fix.cc");
  attachment.set_content("int x;");
  EXPECT_THAT(Send(CallOf(builder_), "Planner", reply), IsOk());
  const auto response = waiting.Wait();
  ASSERT_EQ(response->reply().envelope().attachments_size(), 1);
  EXPECT_EQ(response->reply().envelope().attachments(0).content(), "int x;");
}

// --- A plain send

TEST_F(AskReplyTest, AnAnswerGivenWithSendDoesNotLeaveTheAskerWaiting) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto waiting = Await(planner_, "a1");
  EXPECT_EQ(Answered(Send(CallOf(builder_), "Planner", Message("m1"))),
            "reply to w-1/a1");
  EXPECT_EQ(waiting.Wait()->ask().state(), v1::Ask::STATE_ANSWERED);
}

TEST_F(AskReplyTest, AnUnrelatedMessageDoesNotCompleteAnAsk) {
  // To the asker, by one that was not asked.
  AskInjected(planner_, "Builder", builder_, "a1");
  EXPECT_EQ(Answered(Send(CallOf(tester_), "Planner", Message("m1"))),
            "about ");
  // To another than the asker.
  EXPECT_EQ(Answered(Send(CallOf(builder_), "Tester", Message("m2"))),
            "about ");
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
}

TEST_F(AskReplyTest, AMessageFromBeforeTheAskWasReadDoesNotCompleteIt) {
  EXPECT_THAT(Ask(planner_, "Builder", "a1"), IsOk());
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_HELD, "",
             v1::WAIT_REASON_BUSY);
  EXPECT_EQ(Answered(Send(CallOf(builder_), "Planner", Message("m1"))),
            "about ");
  EXPECT_EQ(StateOf("w-1/a1"), v1::Ask::STATE_OPEN);
  SayReceipt(builder_, "w-1/a1", v1::Receipt::EVENT_INJECTED);
  EXPECT_EQ(Answered(Send(CallOf(builder_), "Planner", Message("m2"))),
            "reply to w-1/a1");
}

TEST_F(AskReplyTest, AMessageAnswersNoAskThatNobodyWaitsForAnyMore) {
  AskInjected(planner_, "Builder", builder_, "a1");
  Pass(absl::Seconds(10));
  EXPECT_EQ(Answered(Send(CallOf(builder_), "Planner", Message("m1"))),
            "about ");
}

TEST_F(AskReplyTest, ARepeatOfAMessageThatBecameAReplyHasItsFirstAnswer) {
  AskInjected(planner_, "Builder", builder_, "a1");
  const auto first = Send(CallOf(builder_), "Planner", Message("m1"));
  const auto again = Send(CallOf(builder_), "Planner", Message("m1"));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->sequence(), first->sequence());
}

// --- Persons

TEST_F(AskReplyTest, APersonsAskIsAnsweredToTheCallThatWaits) {
  EXPECT_THAT(Send(Person(), "Builder", Question("a1"), root_), IsOk());
  const std::string person = "person:" + std::to_string(getuid());
  SayReceipt(builder_, person + "/a1", v1::Receipt::EVENT_INJECTED);
  const auto waiting = Await(Person(), "a1");
  EXPECT_EQ(Answered(Reply(builder_, "r1", {.trigger = person + "/a1"})),
            "reply to " + person + "/a1");
  EXPECT_EQ(waiting.Wait()->reply().envelope().text(), "text of r1");
  // The command that waited has yet to show it.
  EXPECT_EQ(RecordOf("w-2/r1").state(), v1::DELIVERY_STATE_DELIVERED);
  EXPECT_EQ(MailboxOf(person).envelopes, 1);
  // Asked again, the call has it still.
  EXPECT_EQ(Look(Person(), "a1")->reply().envelope().text(), "text of r1");
}

TEST_F(AskReplyTest, AClientsAskHasArrivedWithTheCallThatWaits) {
  CallerEvidence client;
  client.over_tcp = true;
  EXPECT_THAT(Send(client, "Builder", Question("a1"), root_), IsOk());
  const std::string id = "client:" + std::to_string(getuid());
  SayReceipt(builder_, id + "/a1", v1::Receipt::EVENT_INJECTED);
  const auto waiting = Await(client, "a1");
  EXPECT_THAT(Reply(builder_, "r1", {.trigger = id + "/a1"}), IsOk());
  EXPECT_EQ(waiting.Wait()->reply().envelope().text(), "text of r1");
  EXPECT_EQ(RecordOf("w-2/r1").state(), v1::DELIVERY_STATE_INJECTED);
  EXPECT_EQ(MailboxOf(id).envelopes, 0);
}

TEST_F(AskReplyTest, AReplyToWhatAProgramSentSaysThatNobodyWaitsThere) {
  CallerEvidence client;
  client.over_tcp = true;
  EXPECT_THAT(Send(client, "Builder", Message("m1-of-program"), root_), IsOk());
  EXPECT_THAT(RefusalOf(Reply(builder_, "r1", {.reply_to = "m1-of-program"}),
                        kNotFound, "UNKNOWN_RECIPIENT"),
              HasSubstr("program"));
}

// --- Words

TEST(AgeTextTest, AnAgeIsSaidInItsGreatestUnit) {
  EXPECT_EQ(AgeText(-absl::Seconds(1)), "0 s");
  EXPECT_EQ(AgeText(absl::Seconds(59)), "59 s");
  EXPECT_EQ(AgeText(absl::Seconds(119)), "1 min");
  EXPECT_EQ(AgeText(absl::Hours(25)), "25 h");
}

}  // namespace
}  // namespace intercom
