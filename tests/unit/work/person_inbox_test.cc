#include "broker/work/person_inbox.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/ask_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

const std::string kPerson = "person:" + std::to_string(getuid());

// The account's person, and the team that writes to them.
class PersonInboxTest : public AskRig {
 protected:
  absl::StatusOr<v1::ListInboxResponse> ListAs(const CallerEvidence& evidence,
                                               bool with_read = false,
                                               int limit = 0) {
    v1::ListInboxRequest request;
    request.set_with_read(with_read);
    request.set_limit(limit);
    return CallOn(inbox_, &PersonInbox::List, evidence, request);
  }
  std::vector<std::string> Inbox(bool with_read = false, int limit = 0) {
    const auto response = ListAs(Person(), with_read, limit);
    EXPECT_THAT(response, IsOk());
    std::vector<std::string> ids;
    for (const v1::DeliveryRecord& record : response->records()) {
      ids.push_back(record.delivery_id());
    }
    return ids;
  }
  absl::StatusOr<v1::MarkReadResponse> MarkAs(
      const CallerEvidence& evidence, const std::vector<std::string>& ids) {
    v1::MarkReadRequest request;
    for (const std::string& id : ids) request.add_delivery_ids(id);
    return CallOn(inbox_, &PersonInbox::MarkRead, evidence, request);
  }
  absl::StatusOr<v1::DeliveryRecord> Write(const std::string& id,
                                           const std::string& to = "person") {
    return Send(CallOf(builder_), to, Message(id));
  }
  absl::StatusOr<v1::DeliveryRecord> SendAnywhere(
      const CallerEvidence& evidence, const std::string& to,
      v1::Envelope envelope) {
    v1::SendRequest request;
    *request.mutable_envelope() = std::move(envelope);
    request.set_to(to);
    request.set_reach(v1::REACH_ACCOUNT);
    RecordAnswer answer;
    mail_.Send(evidence, request, answer.Callback());
    auto record = answer.Wait();
    Sync();
    return record;
  }
  // The person answers what `id` names.
  absl::StatusOr<v1::DeliveryRecord> Answer(const std::string& id,
                                            const std::string& answered) {
    v1::Envelope reply = Message(id);
    reply.set_kind(v1::ENVELOPE_KIND_REPLY);
    reply.set_reply_to(answered);
    return SendAnywhere(Person(), "", reply);
  }
};

// --- To the person

TEST_F(PersonInboxTest, MailToThePersonWaitsUnreadAndNeverExpires) {
  const auto record = Write("m1");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->recipient_session_id(), kPerson);
  EXPECT_EQ(record->recipient_name(), "person");
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_UNREAD);
  EXPECT_FALSE(record->has_expires_at());
  EXPECT_THAT(Inbox(), ElementsAre("w-2/m1"));
}

TEST_F(PersonInboxTest, ThePersonIsNamedWithinAWorkspaceAndBeyond) {
  for (const std::string& name :
       {std::string("person"), std::string("Person"), kPerson}) {
    const auto record =
        Write("in-" + std::to_string(name.size()) + name[0], name);
    ASSERT_THAT(record, IsOk()) << name;
    EXPECT_EQ(record->recipient_session_id(), kPerson);
    const auto anywhere =
        SendAnywhere(CallOf(builder_), name,
                     Message("at-" + std::to_string(name.size()) + name[0]));
    ASSERT_THAT(anywhere, IsOk()) << name;
    EXPECT_EQ(anywhere->recipient_session_id(), kPerson);
  }
  EXPECT_THAT(Write("m2", "person:1234567"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_RECIPIENT"));
}

TEST_F(PersonInboxTest, ASessionOfThatNameComesBeforeThePerson) {
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "person"},
                                 {"w-2", "Builder"}}));
  Detach(planner_);  // It has not loaded what changed.
  const auto record = Write("m1");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->recipient_session_id(), "w-1");
}

TEST_F(PersonInboxTest, NobodyCanAskAPerson) {
  const auto refused = Send(CallOf(builder_), "person", Question("a1"));
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "RECIPIENT_AWAY"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("Send a message"));
  EXPECT_THAT(Inbox(), IsEmpty());
}

TEST_F(PersonInboxTest, APersonHasNoNeedToWriteToThemselves) {
  EXPECT_THAT(SendAnywhere(Person(), "person", Message("m1")),
              FailsWith(absl::StatusCode::kInvalidArgument, "SELF_TARGET"));
}

TEST_F(PersonInboxTest, NoSessionTakesThePlaceOfAPerson) {
  EXPECT_THAT(
      TryAttach(HelloOf(kPerson)),
      FailsWith(absl::StatusCode::kInvalidArgument, "SESSION_ID_INVALID"));
}

// --- Answers

TEST_F(PersonInboxTest, AnAnswerToWhatAPersonSentIsMailToThem) {
  EXPECT_THAT(Send(Person(), "Builder", Message("m1"), root_), IsOk());
  SayReceipt(builder_, kPerson + "/m1", v1::Receipt::EVENT_INJECTED);
  const auto record = Reply(builder_, "r1", {.trigger = kPerson + "/m1"});
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->envelope().reply_to(), kPerson + "/m1");
  EXPECT_FALSE(record->has_expires_at());
  EXPECT_THAT(Inbox(), ElementsAre("w-2/r1"));
  EXPECT_EQ(RecordOf(kPerson + "/m1").state(), v1::DELIVERY_STATE_REPLIED);
}

TEST_F(PersonInboxTest, AnAnswerForWhichNobodyWaitsAnyMoreIsMail) {
  EXPECT_THAT(Send(Person(), "Builder", Question("a1"), root_), IsOk());
  SayReceipt(builder_, kPerson + "/a1", v1::Receipt::EVENT_INJECTED);
  int64_t ticket = 0;
  const auto waiting = Await(Person(), "a1", absl::Seconds(30), &ticket);
  asks_.CancelWait(ticket);  // The command was killed.
  Sync();
  Pass(absl::Minutes(1));
  EXPECT_THAT(Reply(builder_, "r1", {.trigger = kPerson + "/a1"}), IsOk());
  EXPECT_EQ(RecordOf("w-2/r1").wait_reason(), v1::WAIT_REASON_UNREAD);
  EXPECT_THAT(Inbox(), ElementsAre("w-2/r1"));
}

TEST_F(PersonInboxTest, AnAnswerAfterTheTimeOfItsAskIsMail) {
  EXPECT_THAT(Send(Person(), "Builder", Question("a1"), root_), IsOk());
  SayReceipt(builder_, kPerson + "/a1", v1::Receipt::EVENT_INJECTED);
  Pass(absl::Minutes(11));
  EXPECT_EQ(StateOf(kPerson + "/a1"), v1::Ask::STATE_TIMED_OUT);
  EXPECT_THAT(Reply(builder_, "r1", {.trigger = kPerson + "/a1"}), IsOk());
  EXPECT_THAT(Inbox(), ElementsAre("w-2/r1"));
}

TEST_F(PersonInboxTest, AnAnswerThatACommandTookAndDidNotShowStaysUnread) {
  EXPECT_THAT(Send(Person(), "Builder", Question("a1"), root_), IsOk());
  SayReceipt(builder_, kPerson + "/a1", v1::Receipt::EVENT_INJECTED);
  const auto waiting = Await(Person(), "a1");
  EXPECT_THAT(Reply(builder_, "r1", {.trigger = kPerson + "/a1"}), IsOk());
  EXPECT_EQ(waiting.Wait()->reply().delivery_id(), "w-2/r1");
  Pass(absl::Minutes(1));
  EXPECT_THAT(Inbox(), ElementsAre("w-2/r1"));
  EXPECT_THAT(MarkAs(Person(), {"w-2/r1"}), IsOk());
  EXPECT_THAT(Inbox(), IsEmpty());
}

// --- By the person

TEST_F(PersonInboxTest, WhatWasShownIsSeenByTheProcessThatShowedIt) {
  EXPECT_THAT(Write("m1"), IsOk());
  CallerEvidence terminal;
  terminal.ancestry = {4321, 1};
  const auto marked = MarkAs(terminal, {"w-2/m1"});
  ASSERT_THAT(marked, IsOk());
  ASSERT_EQ(marked->records_size(), 1);
  const v1::DeliveryRecord& record = marked->records(0);
  EXPECT_EQ(record.state(), v1::DELIVERY_STATE_SEEN);
  EXPECT_EQ(record.wait_reason(), v1::WAIT_REASON_UNSPECIFIED);
  EXPECT_EQ(record.marks(record.marks_size() - 1).evidence(),
            "read at a terminal, process 4321");
  EXPECT_EQ(MailboxOf(kPerson).envelopes, 0);
  EXPECT_THAT(Inbox(), IsEmpty());
  EXPECT_THAT(Inbox(/*with_read=*/true), ElementsAre("w-2/m1"));
}

TEST_F(PersonInboxTest, WhatIsReadStaysAsItIs) {
  EXPECT_THAT(Write("m1"), IsOk());
  EXPECT_THAT(MarkAs(Person(), {"w-2/m1"}), IsOk());
  CallerEvidence later;
  later.ancestry = {99};
  const auto again = MarkAs(later, {"w-2/m1"});
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->records(0).marks(1).evidence(), "read at a terminal");
}

TEST_F(PersonInboxTest, OneIdOfAnothersMailMarksNothing) {
  EXPECT_THAT(Write("m1"), IsOk());
  EXPECT_THAT(Write("m2", "Planner"), IsOk());
  for (const char* other : {"w-2/m2", "w-2/not-there", "no id"}) {
    EXPECT_THAT(MarkAs(Person(), {"w-2/m1", other}),
                FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE"));
  }
  EXPECT_THAT(Inbox(), ElementsAre("w-2/m1"));
}

TEST_F(PersonInboxTest, NobodyButAPersonReadsOrMarks) {
  EXPECT_THAT(Write("m1"), IsOk());
  CallerEvidence shell;
  shell.claimed_session = "w-2";
  CallerEvidence client;
  client.over_tcp = true;
  for (const CallerEvidence& other : {CallOf(builder_), shell, client}) {
    EXPECT_THAT(ListAs(other), FailsWith(absl::StatusCode::kPermissionDenied,
                                         "NOT_PERMITTED"));
    EXPECT_THAT(
        MarkAs(other, {"w-2/m1"}),
        FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  }
  EXPECT_THAT(MessageOf(ListAs(shell).status()),
              HasSubstr("only a person at a shell of their own may"));
}

TEST_F(PersonInboxTest, APersonsAnswerProvesThatTheyHaveReadIt) {
  EXPECT_THAT(Write("m1-to-the-person"), IsOk());
  const auto answer = Answer("r1", "m1-to-");
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->recipient_session_id(), "w-2");
  EXPECT_EQ(RecordOf("w-2/m1-to-the-person").state(),
            v1::DELIVERY_STATE_REPLIED);
  EXPECT_THAT(Inbox(), IsEmpty());
  EXPECT_THAT(Offered(builder_), ElementsAre("r1"));
}

TEST_F(PersonInboxTest, APersonAnswersIntoEveryScope) {
  v1::Hello hello = PeerHello("p-1");
  hello.set_scope("fleet-one");
  const auto peer = TryAttach(hello);
  ASSERT_THAT(peer, IsOk());
  SayPresent(*peer, {});
  EXPECT_THAT(SendAnywhere(CallOf(*peer), "person", Message("m1-of-peer")),
              IsOk());
  const auto answer = Answer("r1", "m1-of-peer");
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->recipient_session_id(), "p-1");
}

TEST_F(PersonInboxTest, UnreadMailIsTakenBackForCertain) {
  EXPECT_THAT(Write("m1"), IsOk());
  // As after a restart.
  EXPECT_THAT(OnState([&] { return dispatcher_.Load(); }), IsOk());
  EXPECT_THAT(TakeBack(CallOf(builder_), "m1"), IsOk());
  EXPECT_THAT(Inbox(/*with_read=*/true), IsEmpty());
}

// --- Pages

TEST_F(PersonInboxTest, TheOldestUnreadComeFirstAndTheRestIsCounted) {
  for (const char* id : {"m1", "m2", "m3"}) EXPECT_THAT(Write(id), IsOk());
  const auto page = ListAs(Person(), /*with_read=*/false, 2);
  ASSERT_THAT(page, IsOk());
  EXPECT_EQ(page->left_out(), 1);
  EXPECT_THAT(Inbox(false, 2), ElementsAre("w-2/m1", "w-2/m2"));
}

TEST_F(PersonInboxTest, WithWhatWasReadTheNewestComeOldestFirst) {
  for (const char* id : {"m1", "m2", "m3"}) EXPECT_THAT(Write(id), IsOk());
  EXPECT_THAT(MarkAs(Person(), {"w-2/m2"}), IsOk());
  EXPECT_THAT(Inbox(true), ElementsAre("w-2/m1", "w-2/m2", "w-2/m3"));
  EXPECT_THAT(Inbox(true, 2), ElementsAre("w-2/m2", "w-2/m3"));
  EXPECT_EQ(ListAs(Person(), true, 2)->left_out(), 1);
}

TEST_F(PersonInboxTest, APageEndsWhereItsTextsAreLong) {
  for (const char* id : {"m1", "m2", "m3"}) {
    v1::Envelope envelope = Message(id);
    for (int i = 0; i < 12; ++i) {
      v1::MessageAttachment& more = *envelope.add_attachments();
      more.set_type(v1::MessageAttachment::TYPE_CONTEXT);
      more.set_name("c");
      more.set_content(std::string(20'000, 'x'));
    }
    EXPECT_THAT(Send(CallOf(builder_), "person", envelope), IsOk());
  }
  const auto whole = OnState([&] {
    return DeliveryHistory(runner_->database())
        .ListInbox(kPerson, /*with_read=*/false, 50,
                   /*max_text_bytes=*/300'000)
        .value();
  });
  EXPECT_THAT(whole.records, SizeIs(2));
  EXPECT_EQ(whole.left_out, 1);
}

TEST_F(PersonInboxTest, LimitsAreChecked) {
  for (const int limit : {-1, 201}) {
    EXPECT_THAT(ListAs(Person(), false, limit),
                FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_SIZE"));
  }
  EXPECT_THAT(MarkAs(Person(), {}),
              FailsWith(absl::StatusCode::kInvalidArgument, "MARKS_INVALID"));
  EXPECT_THAT(MarkAs(Person(), std::vector<std::string>(201, "w-2/m1")),
              FailsWith(absl::StatusCode::kInvalidArgument, "MARKS_INVALID"));
}

}  // namespace
}  // namespace intercom
