#include "broker/work/mail.h"

#include <filesystem>
#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
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
class MailTest : public WorkRig {
 protected:
  MailTest() {
    WriteTeam();
    coordinator_ = Join("c-1");
    worker_ = Join("w-1");
  }

  absl::StatusOr<v1::DeliveryRecord> Get(const std::string& id) {
    RecordAnswer answer;
    mail_.Get(Person(), id, answer.Callback());
    return answer.Wait();
  }
  absl::StatusOr<v1::ListMessagesResponse> List(
      v1::ListMessagesRequest request) {
    Answer<absl::StatusOr<v1::ListMessagesResponse>> answer;
    mail_.List(Person(), std::move(request), answer.Callback());
    return answer.Wait();
  }
  static std::vector<std::string> Ids(const v1::ListMessagesResponse& page) {
    std::vector<std::string> ids;
    for (const v1::DeliveryRecord& record : page.records()) {
      ids.push_back(record.envelope().envelope_id());
    }
    return ids;
  }

  TestSession coordinator_;
  TestSession worker_;
};

// --- Send

TEST_F(MailTest, TheSenderIsWhoTheBrokerKnowsItToBe) {
  const auto record = Send(CallOf(coordinator_), "reviewer", Message("e1"));
  ASSERT_THAT(record, IsOk());
  ASSERT_THAT(worker_.link->deliveries(), SizeIs(1));
  const v1::Sender sender = worker_.link->deliveries()[0].sender();
  EXPECT_EQ(sender.session_id(), "c-1");
  EXPECT_EQ(sender.name(), "Coordinator");
  EXPECT_EQ(sender.origin(), v1::ORIGIN_SESSION);
  EXPECT_EQ(sender.role(), v1::ROLE_COORDINATOR);
  EXPECT_EQ(sender.workspace_root(), root_);
  EXPECT_EQ(record->recipient_name(), "Reviewer");
}

TEST_F(MailTest, AnAnonymousSessionMayNotSend) {
  const TestSession anonymous = Join("x-1");
  EXPECT_THAT(
      Send(CallOf(anonymous), "Coordinator", Message("e1")),
      FailsWith(absl::StatusCode::kPermissionDenied, "ANONYMOUS_SENDER"));
}

TEST_F(MailTest, APeerMayNotSend) {
  const TestSession peer = *TryAttach(PeerHello("p-1"));
  EXPECT_THAT(Send(CallOf(peer), "Coordinator", Message("e1")),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

TEST_F(MailTest, APersonNamesTheWorkspaceByADirectoryInIt) {
  std::filesystem::create_directories(root_ + "/deep/down");
  const auto record =
      Send(Person(), "Reviewer", Message("e1"), root_ + "/deep/down");
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->sender().origin(), v1::ORIGIN_PERSON);
  EXPECT_THAT(Send(Person(), "Reviewer", Message("e2")),
              FailsWith(absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE"));
  EXPECT_THAT(Send(Person(), "Reviewer", Message("e3"), dir_.path()),
              FailsWith(absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE"));
}

TEST_F(MailTest, AShellSendsAsItsSessionAndSaysThatItIsAShell) {
  CallerEvidence shell;
  shell.ancestry = {OnState([&] { return roster_.Find("w-1")->host_pid; })};
  const auto record = Send(shell, "Coordinator", Message("e1"));
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->sender().session_id(), "w-1");
  EXPECT_EQ(record->sender().origin(), v1::ORIGIN_SHELL);
}

TEST_F(MailTest, AnInvalidConfigRefusesMailAndStaysAsItIs) {
  WriteConfig(root_, "{ not json");
  const auto refused = Send(CallOf(coordinator_), "Reviewer", Message("e1"));
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "CONFIG_INVALID"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("config.json"));
  EXPECT_EQ(ReadText(ConfigPath(root_)), "{ not json");
  EXPECT_THAT(worker_.link->deliveries(), IsEmpty());
}

TEST_F(MailTest, AWorkerConfiguredWhileAttachedTakesMailOnceItHasLoaded) {
  const TestSession fresh = Join("x-1");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"x-1", "Builder"}}));
  // The first call after the edit finds the new role only after it, so let
  // another one come before.
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_THAT(Send(CallOf(coordinator_), "Builder", Message("e1")),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "RESPONSIBILITY_NOT_LOADED"));
  const auto from_worker = Send(CallOf(worker_), "Builder", Message("e1"));
  EXPECT_THAT(from_worker, FailsWith(absl::StatusCode::kFailedPrecondition,
                                     "RESPONSIBILITY_NOT_LOADED"));
  EXPECT_THAT(MessageOf(from_worker.status()), HasSubstr("ask it"));
  EXPECT_THAT(Send(CallOf(fresh), "Coordinator", Message("e1")),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "RESPONSIBILITY_NOT_LOADED"));
  const std::string hash =
      OnState([&] { return roster_.Find("x-1")->entry->entry_hash(); });
  registrar_.SetLoaded(fresh.key, hash);
  EXPECT_THAT(Send(CallOf(coordinator_), "Builder", Message("e1")), IsOk());
  EXPECT_THAT(Send(CallOf(fresh), "Coordinator", Message("e1")), IsOk());
}

TEST_F(MailTest, TheFirstCallAfterAnEditKnowsThatNothingIsLoadedYet) {
  const TestSession fresh = Join("x-1");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"x-1", "Builder"}}));
  EXPECT_THAT(Send(CallOf(coordinator_), "Builder", Message("e1")),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "RESPONSIBILITY_NOT_LOADED"));
}

TEST_F(MailTest, AConfiguredWorkerThatIsAwayTakesMail) {
  Detach(worker_);
  const auto record = Send(CallOf(coordinator_), "Reviewer", Message("e1"));
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->wait_reason(), v1::WAIT_REASON_AWAY);
}

TEST_F(MailTest, ARepeatHasItsFirstAnswerWhateverChangedSince) {
  const auto first = Send(CallOf(coordinator_), "Reviewer", Message("e1"));
  ASSERT_THAT(first, IsOk());
  EXPECT_THAT(
      Send(CallOf(coordinator_), "Reviewer", Message("e1", "other words")),
      FailsWith(absl::StatusCode::kAlreadyExists, "ENVELOPE_ID_REUSED"));
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}, {"w-1", "Renamed"}}));
  const auto again = Send(CallOf(coordinator_), "Reviewer", Message("e1"));
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->sequence(), first->sequence());

  WriteConfig(root_, "{");
  const auto invalid =
      FailsWith(absl::StatusCode::kFailedPrecondition, "CONFIG_INVALID");
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e2")), invalid);
  EXPECT_THAT(Send(CallOf(coordinator_), "Coordinator", Message("e1")),
              invalid);
  const auto third = Send(CallOf(coordinator_), "Reviewer", Message("e1"));
  ASSERT_THAT(third, IsOk());
  EXPECT_EQ(third->sequence(), first->sequence());
}

TEST_F(MailTest, ASupersededSessionCannotSend) {
  v1::Hello hello = HelloOf("w-1");
  hello.set_previous_session_token(worker_.link->welcome().session_token());
  EXPECT_THAT(TryAttach(hello), IsOk());
  EXPECT_THAT(Send(CallOf(worker_), "Coordinator", Message("e1")),
              FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
}

// --- Rate

TEST_F(MailTest, ASessionSends240AtOnceThen120ASecond) {
  const CallerEvidence call = CallOf(coordinator_);
  int sent = 0;
  const auto send = [&] {
    return Send(call, "Reviewer", Message("e" + std::to_string(++sent)));
  };
  for (int i = 0; i < 240; ++i) ASSERT_THAT(send(), IsOk());
  EXPECT_THAT(send(),
              FailsWith(absl::StatusCode::kResourceExhausted, "SEND_RATE"));
  clock_.Jump(absl::Hours(1));  // says nothing about how much time passed
  EXPECT_THAT(send(),
              FailsWith(absl::StatusCode::kResourceExhausted, "SEND_RATE"));
  clock_.Jump(-absl::Hours(2));
  EXPECT_THAT(Send(CallOf(worker_), "Coordinator", Message("mine")), IsOk());

  clock_.Advance(absl::Milliseconds(500));
  for (int i = 0; i < 60; ++i) ASSERT_THAT(send(), IsOk());
  EXPECT_THAT(send(),
              FailsWith(absl::StatusCode::kResourceExhausted, "SEND_RATE"));
}

// --- Get

TEST_F(MailTest, AnEnvelopeIsFoundByAnyOfItsIds) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("abcdef-1")),
              IsOk());
  for (const char* id : {"c-1/abcdef-1", "abcdef-1", "abcdef"}) {
    const auto record = Get(id);
    ASSERT_THAT(record, IsOk());
    EXPECT_EQ(record->delivery_id(), "c-1/abcdef-1");
  }
}

TEST_F(MailTest, FewerThan6CharactersAreTooShort) {
  EXPECT_THAT(Get("abcde"),
              FailsWith(absl::StatusCode::kInvalidArgument, "ID_TOO_SHORT"));
}

TEST_F(MailTest, AnUnknownIdIsNotFound) {
  EXPECT_THAT(Get("abcdef"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE"));
}

TEST_F(MailTest, AnAmbiguousPrefixListsWhatItCouldBe) {
  for (const char* id : {"abcdef-1", "abcdef-2"}) {
    EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message(id)), IsOk());
  }
  const auto ambiguous = Get("abcdef");
  EXPECT_THAT(ambiguous,
              FailsWith(absl::StatusCode::kFailedPrecondition, "AMBIGUOUS_ID"));
  EXPECT_THAT(MessageOf(ambiguous.status()), HasSubstr("c-1/abcdef-1"));
  EXPECT_THAT(MessageOf(ambiguous.status()), HasSubstr("c-1/abcdef-2"));
  EXPECT_THAT(Get("abcdef-2"), IsOk());
}

// --- Withdraw

TEST_F(MailTest, ASenderWithdrawsItsOwnMail) {
  Detach(worker_);
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  const auto answer = TakeBack(CallOf(coordinator_), "e1");
  ASSERT_THAT(answer, IsOk());
  EXPECT_EQ(answer->record().end(), v1::DELIVERY_END_CANCELLED);
  EXPECT_FALSE(answer->requested());
}

TEST_F(MailTest, NobodyWithdrawsAnothersMail) {
  Detach(worker_);
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_THAT(TakeBack(Person(), "e1", /*request_if_late=*/true),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_ENVELOPE"));
  EXPECT_THAT(
      TakeBack(CallOf(coordinator_), "no/id"),
      FailsWith(absl::StatusCode::kInvalidArgument, "ENVELOPE_INVALID"));
}

TEST_F(MailTest, ASenderAsksToDisregardWhatIsInTheSessionAlready) {
  v1::Envelope message = Message("e1-longer-than-eight", "Use branch one.");
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", message), IsOk());
  SayReceipt(worker_, "c-1/e1-longer-than-eight", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(TakeBack(CallOf(coordinator_), "e1-longer-than-eight"),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
  EXPECT_THAT(NoticesOf(worker_, "CANCELLATION_REQUEST"), IsEmpty());

  const auto late = TakeBack(CallOf(coordinator_), "e1-longer-than-eight",
                             /*request_if_late=*/true);

  ASSERT_THAT(late, IsOk());
  EXPECT_TRUE(late->requested());
  EXPECT_EQ(late->record().state(), v1::DELIVERY_STATE_INJECTED);
  const auto notices = NoticesOf(worker_, "CANCELLATION_REQUEST");
  ASSERT_THAT(notices, SizeIs(1));
  EXPECT_TRUE(notices[0].envelope().quiet());
  EXPECT_EQ(notices[0].sender().session_id(), "c-1");
  EXPECT_EQ(notices[0].sender().name(), "Coordinator");
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("e1-longe"));
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("Use branch one."));
}

TEST_F(MailTest, ARepeatedRequestToDisregardMakesNoSecondNotice) {
  const std::string id(64, 'i');
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message(id)), IsOk());
  SayReceipt(worker_, "c-1/" + id, v1::Receipt::EVENT_INJECTED);
  for (int i = 0; i < 2; ++i) {
    const auto late = TakeBack(CallOf(coordinator_), id, true);
    ASSERT_THAT(late, IsOk());
    EXPECT_TRUE(late->requested());
  }
  EXPECT_THAT(NoticesOf(worker_, "CANCELLATION_REQUEST"), SizeIs(1));
}

TEST_F(MailTest, WhatHasEndedNeedsNoRequestToDisregardIt) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  SayReceipt(worker_, "c-1/e1", v1::Receipt::EVENT_FAILED, "no room");
  EXPECT_THAT(TakeBack(CallOf(coordinator_), "e1", true),
              FailsWith(absl::StatusCode::kFailedPrecondition, "TOO_LATE"));
  EXPECT_THAT(NoticesOf(worker_, "CANCELLATION_REQUEST"), IsEmpty());
}

// --- List

TEST_F(MailTest, ListsNewestFirstInPages) {
  for (int i = 1; i <= 5; ++i) {
    EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer",
                     Message("e" + std::to_string(i))),
                IsOk());
  }
  v1::ListMessagesRequest request;
  request.set_page_size(2);
  auto page = List(request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), ElementsAre("e5", "e4"));
  request.set_page_token(page->next_page_token());
  page = List(request);
  EXPECT_THAT(Ids(*page), ElementsAre("e3", "e2"));
  request.set_page_token(page->next_page_token());
  page = List(request);
  EXPECT_THAT(Ids(*page), ElementsAre("e1"));
  EXPECT_EQ(page->next_page_token(), "");
}

TEST_F(MailTest, ListsOldestFirstAfterASequence) {
  for (int i = 1; i <= 4; ++i) {
    EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer",
                     Message("e" + std::to_string(i))),
                IsOk());
  }
  v1::ListMessagesRequest request;
  request.set_oldest_first(true);
  request.set_page_size(3);
  auto page = List(request);
  ASSERT_THAT(page, IsOk());
  EXPECT_THAT(Ids(*page), ElementsAre("e1", "e2", "e3"));
  EXPECT_EQ(page->next_page_token(),
            std::to_string(page->records(2).sequence()));
  request.set_page_token(page->next_page_token());
  page = List(request);
  EXPECT_THAT(Ids(*page), ElementsAre("e4"));
  EXPECT_EQ(page->next_page_token(), "");
}

TEST_F(MailTest, ListsBySessionAndByDirectory) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  v1::ListMessagesRequest request;
  request.set_session_id("w-1");
  EXPECT_THAT(Ids(*List(request)), ElementsAre("e1"));
  request.set_session_id("x-1");
  EXPECT_THAT(Ids(*List(request)), IsEmpty());
  request.clear_session_id();
  request.set_directory(root_);
  EXPECT_THAT(Ids(*List(request)), ElementsAre("e1"));
}

TEST_F(MailTest, ADirectoryWithoutWorkspaceIsSaid) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  v1::ListMessagesRequest request;
  request.set_directory(dir_.path());
  EXPECT_THAT(List(request),
              FailsWith(absl::StatusCode::kNotFound, "NO_WORKSPACE"));
}

TEST_F(MailTest, PageSizeAndTokenAreChecked) {
  v1::ListMessagesRequest request;
  for (const int size : {-1, 201}) {
    request.set_page_size(size);
    EXPECT_THAT(List(request),
                FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_SIZE"));
  }
  request.set_page_size(200);
  EXPECT_THAT(List(request), IsOk());
  for (const char* token : {"x", "1x", "-1", "0", "99999999999999999999"}) {
    request.set_page_token(token);
    EXPECT_THAT(List(request),
                FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_TOKEN"));
  }
}

TEST_F(MailTest, AListSaysWhyThingsWait) {
  Detach(worker_);
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  const auto page = List({});
  ASSERT_THAT(page, IsOk());
  ASSERT_EQ(page->records_size(), 1);
  EXPECT_EQ(page->records(0).wait_reason(), v1::WAIT_REASON_AWAY);
}

TEST_F(MailTest, AListIsNarrowedByEveryFilter) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1", "Needle")),
              IsOk());
  EXPECT_THAT(Send(CallOf(worker_), "Coordinator", Message("e2", "hay")),
              IsOk());
  SayReceipt(worker_, "c-1/e1", v1::Receipt::EVENT_INJECTED);
  v1::ListMessagesRequest request;
  request.set_containing("needle");
  EXPECT_THAT(Ids(*List(request)), ElementsAre("e1"));
  request.add_states(v1::DELIVERY_STATE_INJECTED);
  request.add_kinds(v1::ENVELOPE_KIND_MESSAGE);
  *request.mutable_since() = ToProto(clock_.Now() - absl::Hours(1));
  *request.mutable_until() = ToProto(clock_.Now() + absl::Hours(1));
  EXPECT_THAT(Ids(*List(request)), ElementsAre("e1"));
  request.clear_containing();
  request.clear_states();
  request.add_ends(v1::DELIVERY_END_EXPIRED);
  EXPECT_THAT(Ids(*List(request)), IsEmpty());
  request.clear_ends();
  *request.mutable_until() = ToProto(clock_.Now() - absl::Minutes(1));
  EXPECT_THAT(Ids(*List(request)), IsEmpty());
}

TEST_F(MailTest, WhatATextContainsHasABound) {
  v1::ListMessagesRequest request;
  request.set_containing(std::string(257, 'x'));
  EXPECT_THAT(List(request),
              FailsWith(absl::StatusCode::kInvalidArgument, "TEXT_TOO_LONG"));
  request.set_containing("\xff");
  EXPECT_THAT(List(request),
              FailsWith(absl::StatusCode::kInvalidArgument, "TEXT_TOO_LONG"));
}

// --- Deliveries

TEST_F(MailTest, DeliveriesAreListedWithoutTheirTexts) {
  v1::Envelope message = Message("e1", "a secret");
  v1::MessageAttachment& file = *message.add_attachments();
  file.set_type(v1::MessageAttachment::TYPE_FILE);
  file.set_name("secret.txt");
  file.set_content("secret");
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", message), IsOk());
  Detach(worker_);
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e2")), IsOk());
  v1::ListDeliveriesRequest request;
  const auto all = CallOn(mail_, &Mail::ListDeliveries, Person(), request);
  ASSERT_THAT(all, IsOk());
  ASSERT_EQ(all->deliveries_size(), 2);
  EXPECT_THAT(all->ShortDebugString(), ::testing::Not(HasSubstr("secret")));
  const v1::DeliverySummary& first = all->deliveries(1);
  EXPECT_EQ(first.delivery_id(), "c-1/e1");
  EXPECT_EQ(first.text_bytes(), 8);
  EXPECT_EQ(first.attachments(), 1);
  EXPECT_EQ(first.recipient_name(), "Reviewer");
  EXPECT_TRUE(first.has_accepted_at());
  EXPECT_EQ(all->deliveries(0).wait_reason(), v1::WAIT_REASON_AWAY);
}

TEST_F(MailTest, DeliveriesThatWaitAreListedAlone) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  SayReceipt(worker_, "c-1/e1", v1::Receipt::EVENT_INJECTED);
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e2")), IsOk());
  v1::ListDeliveriesRequest request;
  request.set_waiting(true);
  const auto waiting = CallOn(mail_, &Mail::ListDeliveries, Person(), request);
  ASSERT_THAT(waiting, IsOk());
  ASSERT_EQ(waiting->deliveries_size(), 1);
  EXPECT_EQ(waiting->deliveries(0).delivery_id(), "c-1/e2");
}

TEST_F(MailTest, APageOfDeliveriesIsChecked) {
  v1::ListDeliveriesRequest request;
  const auto refused =
      FailsWith(absl::StatusCode::kInvalidArgument, "PAGE_INVALID");
  request.set_page_size(501);
  EXPECT_THAT(CallOn(mail_, &Mail::ListDeliveries, Person(), request), refused);
  request.set_page_size(1);
  request.set_page_token("x");
  EXPECT_THAT(CallOn(mail_, &Mail::ListDeliveries, Person(), request), refused);
}

// Sessions and ids may be as short as one character.
class ShortIdsTest : public WorkRig {};

TEST_F(ShortIdsTest, AWithdrawalOfAShortIdIsAnsweredWithItsRecord) {
  WriteConfig(root_, ConfigText({{"c", "Coordinator"}, {"w-1", "Reviewer"}}));
  const TestSession coordinator = Join("c");
  EXPECT_THAT(Send(CallOf(coordinator), "Reviewer", Message("1")), IsOk());
  EXPECT_THAT(TakeBack(CallOf(coordinator), "1"), IsOk());
}

}  // namespace
}  // namespace intercom
