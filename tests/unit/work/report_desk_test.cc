#include "broker/work/report_desk.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "broker/base/proto_time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr v1::Report::Status kBlocked = v1::Report::STATUS_BLOCKED;
constexpr v1::Report::Status kDecision = v1::Report::STATUS_NEEDS_DECISION;
constexpr v1::Report::Status kReview = v1::Report::STATUS_READY_FOR_REVIEW;
constexpr v1::Report::Status kClear = v1::Report::STATUS_CLEAR;

// A coordinator and a worker, both attached.
class ReportDeskTest : public WorkRig {
 protected:
  ReportDeskTest() {
    WriteTeam();
    coordinator_ = Join("c-1");
    worker_ = Join("w-1");
  }
  std::optional<v1::Report> Stored(const std::string& session_id = "w-1") {
    return OnState([&] { return reports_.Find(root_, session_id).value(); });
  }
  std::vector<v1::Delivery> Told() {
    return DeliveriesOf(coordinator_, v1::ENVELOPE_KIND_REPORT);
  }
  v1::RosterEntry EntryOf(const std::string& session_id) {
    const auto workspace = Call(&WorkerDesk::GetWorkspace, CallOf(coordinator_),
                                v1::GetWorkspaceRequest());
    for (const v1::RosterEntry& entry : workspace->entries()) {
      if (entry.session_id() == session_id) return entry;
    }
    return {};
  }

  TestSession coordinator_;
  TestSession worker_;
};

// --- ReportWork

TEST_F(ReportDeskTest, AReportIsStoredAndToldToTheCoordinator) {
  const auto response = ReportWork(worker_, kBlocked, "No access to staging.");
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->notified());
  EXPECT_EQ(response->note(), "");
  EXPECT_EQ(response->report().summary(), "No access to staging.");
  EXPECT_EQ(Stored()->status(), kBlocked);
  EXPECT_EQ(Stored()->summary(), "No access to staging.");
  EXPECT_EQ(FromProto(Stored()->reported_at()), clock_.Now());
  ASSERT_THAT(Told(), SizeIs(1));
  EXPECT_EQ(Told()[0].envelope().topic(), "BLOCKED");
  EXPECT_EQ(Told()[0].envelope().text(), "No access to staging.");
  EXPECT_EQ(Told()[0].sender().session_id(), "w-1");
  EXPECT_EQ(Told()[0].sender().name(), "Reviewer");
  EXPECT_EQ(Told()[0].sender().origin(), v1::ORIGIN_SESSION);
}

TEST_F(ReportDeskTest, WhatNeedsTheCoordinatorWakesItAndAClearDoesNot) {
  for (const auto status : {kBlocked, kDecision, kReview}) {
    EXPECT_THAT(ReportWork(worker_, status, "x"), IsOk());
    EXPECT_FALSE(Told().back().envelope().quiet());
    SayReceipt(coordinator_, Told().back().delivery_id(),
               v1::Receipt::EVENT_INJECTED);
  }
  EXPECT_THAT(ReportWork(worker_, kClear, ""), IsOk());
  EXPECT_EQ(Told().back().envelope().topic(), "CLEAR");
  EXPECT_TRUE(Told().back().envelope().quiet());
}

TEST_F(ReportDeskTest, TheLatestReportOfAWorkerStandsAlone) {
  EXPECT_THAT(ReportWork(worker_, kBlocked, "first"), IsOk());
  EXPECT_THAT(ReportWork(worker_, kReview, "second"), IsOk());
  EXPECT_EQ(Stored()->status(), kReview);
  EXPECT_EQ(Stored()->summary(), "second");
}

TEST_F(ReportDeskTest, AClearIsATombstoneThatStaysStored) {
  EXPECT_THAT(ReportWork(worker_, kBlocked, "first"), IsOk());
  EXPECT_THAT(ReportWork(worker_, kClear, ""), IsOk());
  ASSERT_TRUE(Stored().has_value());
  EXPECT_EQ(Stored()->status(), kClear);
  EXPECT_EQ(Stored()->summary(), "");
  EXPECT_FALSE(EntryOf("w-1").has_report());
}

TEST_F(ReportDeskTest, ANewerReportReplacesAnUnreadOneWhateverItsStatus) {
  Detach(coordinator_);
  EXPECT_THAT(ReportWork(worker_, kBlocked, "one"), IsOk());
  EXPECT_THAT(ReportWork(worker_, kDecision, "two"), IsOk());
  EXPECT_THAT(ReportWork(worker_, kDecision, "three"), IsOk());
  EXPECT_THAT(ReportWork(worker_, kReview, "four"), IsOk());
  coordinator_ = Join("c-1");
  ASSERT_THAT(Told(), SizeIs(1));
  EXPECT_EQ(Told()[0].envelope().text(), "four");
  EXPECT_EQ(MailboxOf("c-1").envelopes, 1);
}

TEST_F(ReportDeskTest, AReportOnItsWayIsWithdrawnForTheNewerOne) {
  EXPECT_THAT(ReportWork(worker_, kBlocked, "one"), IsOk());
  EXPECT_THAT(ReportWork(worker_, kReview, "two"), IsOk());
  const auto asked = coordinator_.link->Of(v1::AttachResponse::kWithdraw);
  ASSERT_THAT(asked, SizeIs(1));
  EXPECT_EQ(asked[0].withdraw().delivery_id(), Told()[0].delivery_id());
  EXPECT_THAT(Told(), SizeIs(1));  // The newer waits for its host's word.
  SayReceipt(coordinator_, Told()[0].delivery_id(),
             v1::Receipt::EVENT_WITHDRAWN);
  ASSERT_THAT(Told(), SizeIs(2));
  EXPECT_EQ(Told()[1].envelope().text(), "two");
}

TEST_F(ReportDeskTest, TheSameReportIsNotSaidTwiceWhileItIsUnread) {
  Detach(coordinator_);
  EXPECT_THAT(ReportWork(worker_, kBlocked, "one"), IsOk());
  EXPECT_TRUE(ReportWork(worker_, kBlocked, "one")->notified());
  EXPECT_EQ(MailboxOf("c-1").envelopes, 1);
}

TEST_F(ReportDeskTest, ReportsOfOthersStay) {
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"w-2", "Builder"}}));
  Detach(coordinator_);
  const TestSession other = Join("w-2");
  EXPECT_THAT(ReportWork(worker_, kBlocked, "mine"), IsOk());
  EXPECT_THAT(ReportWork(other, kBlocked, "other"), IsOk());
  EXPECT_EQ(MailboxOf("c-1").envelopes, 2);
  EXPECT_EQ(Stored("w-2")->summary(), "other");
}

TEST_F(ReportDeskTest, WhatBreaksARuleIsRefusedAndNothingStored) {
  const std::string wide(2001, 'x');
  struct Case {
    v1::Report::Status status;
    std::string summary;
  };
  for (const Case& c :
       std::vector<Case>{{v1::Report::STATUS_UNSPECIFIED, "x"},
                         {static_cast<v1::Report::Status>(77), "x"},
                         {kBlocked, ""},
                         {kBlocked, " \t "},
                         {kBlocked, wide},
                         {kBlocked, "two\nlines"},
                         {kBlocked, "\x1b[31mred"},
                         {kBlocked, "nul\x01"},
                         {kBlocked, "hidden \xE2\x80\xAE order"},
                         {kBlocked, "isolate \xE2\x81\xA6"},
                         {kBlocked, "c1 \xC2\x9B"},
                         {kBlocked, "\xff"},
                         {kClear, "with a summary"}}) {
    EXPECT_THAT(ReportWork(worker_, c.status, c.summary),
                FailsWith(absl::StatusCode::kInvalidArgument, "REPORT_INVALID"))
        << c.summary;
  }
  EXPECT_EQ(Stored(), std::nullopt);
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(ReportDeskTest, TwoThousandCharactersOfAnyScriptAreTaken) {
  std::string wide;
  for (int i = 0; i < 2000; ++i) wide += "🛰";
  EXPECT_THAT(ReportWork(worker_, kBlocked, wide), IsOk());
  EXPECT_EQ(Stored()->summary(), wide);
}

TEST_F(ReportDeskTest, OnlyAWorkerReports) {
  EXPECT_THAT(ReportWork(coordinator_, kBlocked, "x"),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  EXPECT_THAT(
      ReportWork(Join("x-1"), kBlocked, "x"),
      FailsWith(absl::StatusCode::kPermissionDenied, "ANONYMOUS_SENDER"));
}

TEST_F(ReportDeskTest, AWorkerReportsOnceItHasLoadedItsResponsibility) {
  const TestSession fresh = Join("x-1");
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"x-1", "Builder"}}));
  EXPECT_THAT(ReportWork(fresh, kBlocked, "x"),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "RESPONSIBILITY_NOT_LOADED"));
  EXPECT_EQ(Stored("x-1"), std::nullopt);
  registrar_.SetLoaded(fresh.key, "hash");
  Sync();
  EXPECT_THAT(ReportWork(fresh, kBlocked, "x"), IsOk());
}

TEST_F(ReportDeskTest, AFullMailboxLeavesTheReportStoredAndSaysSo) {
  Detach(coordinator_);
  Sync();
  OnState([&] {
    EXPECT_THAT(runner_->database().Execute(
                    "INSERT INTO mailboxes VALUES ('c-1', 10000, 1) ON "
                    "CONFLICT (recipient_session_id) DO UPDATE SET "
                    "envelopes = 10000"),
                IsOk());
    return 0;
  });
  const auto response = ReportWork(worker_, kBlocked, "stuck");
  ASSERT_THAT(response, IsOk());
  EXPECT_FALSE(response->notified());
  EXPECT_THAT(response->note(), HasSubstr("is stored"));
  EXPECT_THAT(response->note(), HasSubstr("10000 envelopes"));
  EXPECT_EQ(Stored()->summary(), "stuck");
}

TEST_F(ReportDeskTest, WhatIsNotStoredIsNotTold) {
  Answer<absl::StatusOr<v1::ReportWorkResponse>> answer;
  // The config is looked at in its lane before the command is posted.
  EXPECT_THAT(ReadConfigNow(), IsOk());
  v1::ReportWorkRequest request;
  request.set_status(kBlocked);
  request.set_summary("x");
  EXPECT_THAT(OnState([&] {
                return runner_->database().Execute(
                    "CREATE TRIGGER full BEFORE INSERT ON reports BEGIN "
                    "SELECT RAISE(ABORT, 'full'); END");
              }),
              IsOk());
  EXPECT_FALSE(
      CallOn(report_desk_, &ReportDesk::ReportWork, CallOf(worker_), request)
          .ok());
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(ReportDeskTest, AReportSurvivesARestartOfTheBroker) {
  EXPECT_THAT(ReportWork(worker_, kBlocked, "kept"), IsOk());
  const auto again =
      Database::Open(runner_->database().path());  // another connection
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(ReportStore(**again).Find(root_, "w-1").value()->summary(), "kept");
}

// --- Answers and overdue reports

class OverdueTest : public ReportDeskTest {
 protected:
  OverdueTest() {
    EXPECT_THAT(ReportWork(worker_, kDecision, "left or right?"), IsOk());
  }
  bool IsOverdueNow() {
    const auto report = EntryOf("w-1").report();
    EXPECT_EQ(report.overdue(), Stored()->overdue());
    return report.overdue();
  }
};

TEST_F(OverdueTest, AnUnansweredQuestionIsOverdueAfter10Minutes) {
  Advance(absl::Minutes(10) - absl::Seconds(1));
  EXPECT_FALSE(IsOverdueNow());
  Advance(absl::Seconds(1));
  EXPECT_TRUE(IsOverdueNow());
  EXPECT_FALSE(EntryOf("w-1").report().has_answered_at());
}

TEST_F(OverdueTest, ItWakesNobody) {
  const size_t frames = coordinator_.link->frames().size();
  Advance(absl::Hours(5));
  EXPECT_TRUE(Stored()->overdue());
  EXPECT_EQ(coordinator_.link->frames().size(), frames);
}

TEST_F(OverdueTest, AMessageOfTheCoordinatorAnswersIt) {
  Advance(absl::Minutes(4));
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_EQ(FromProto(EntryOf("w-1").report().answered_at()), clock_.Now());
  const absl::Time answered = clock_.Now();
  Advance(absl::Hours(1));
  EXPECT_FALSE(IsOverdueNow());
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e2")), IsOk());
  EXPECT_EQ(FromProto(Stored()->answered_at()), answered);
}

TEST_F(OverdueTest, AMessageOfAPersonAnswersItToo) {
  EXPECT_THAT(Send(Person(), "Reviewer", Message("e1"), root_), IsOk());
  EXPECT_TRUE(Stored()->has_answered_at());
}

TEST_F(OverdueTest, AMessageOfAnotherWorkerDoesNot) {
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"},
                                 {"w-1", "Reviewer"},
                                 {"w-2", "Builder"}}));
  const TestSession other = Join("w-2");
  EXPECT_THAT(Send(CallOf(other), "Reviewer", Message("e1")), IsOk());
  EXPECT_FALSE(Stored()->has_answered_at());
}

TEST_F(OverdueTest, AMessageThatIsRefusedDoesNot) {
  OnState([&] {
    EXPECT_THAT(runner_->database().Execute(
                    "INSERT INTO mailboxes VALUES ('w-1', 10000, 1)"),
                IsOk());
    return 0;
  });
  EXPECT_FALSE(Send(CallOf(coordinator_), "Reviewer", Message("e1")).ok());
  EXPECT_FALSE(Stored()->has_answered_at());
}

TEST_F(OverdueTest, ARepeatOfAnEarlierMessageDoesNot) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_THAT(ReportWork(worker_, kBlocked, "and now this"), IsOk());
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_FALSE(Stored()->has_answered_at());
}

TEST_F(OverdueTest, ANewReportAwaitsAnAnswerAnew) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  Advance(absl::Minutes(30));
  EXPECT_THAT(ReportWork(worker_, kBlocked, "and now this"), IsOk());
  EXPECT_FALSE(Stored()->has_answered_at());
  Advance(absl::Minutes(10));
  EXPECT_TRUE(IsOverdueNow());
}

TEST_F(OverdueTest, OtherStatusesAwaitNoAnswer) {
  for (const auto status : {kReview, kClear}) {
    EXPECT_THAT(ReportWork(worker_, status, status == kClear ? "" : "x"),
                IsOk());
    Advance(absl::Hours(1));
    EXPECT_FALSE(Stored()->overdue());
  }
}

TEST_F(OverdueTest, AClockThatWasSetBackMakesNothingOverdue) {
  clock_.Jump(-absl::Hours(3));
  EXPECT_FALSE(IsOverdueNow());
}

TEST_F(OverdueTest, TheTimeIsASettingAndInfinityIsNever) {
  Advance(absl::Minutes(1));
  const Reports soon(report_store_, clock_, absl::Minutes(1));
  const Reports never(report_store_, clock_, absl::InfiniteDuration());
  EXPECT_TRUE(
      OnState([&] { return soon.Find(root_, "w-1").value()->overdue(); }));
  Advance(absl::Hours(10'000));
  EXPECT_FALSE(
      OnState([&] { return never.Find(root_, "w-1").value()->overdue(); }));
}

// --- Register

class RegisterTest : public ReportDeskTest {
 protected:
  absl::StatusOr<v1::RegisterResponse> Register(const TestSession& session) {
    return CallOn(report_desk_, &ReportDesk::Register, CallOf(session),
                  v1::RegisterRequest());
  }
};

TEST_F(RegisterTest, AnAnonymousSessionIsAnnouncedAgain) {
  const TestSession fresh = Join("x-1");
  ASSERT_THAT(NoticesOf(coordinator_, "REGISTRATION"), SizeIs(1));
  SayReceipt(coordinator_,
             NoticesOf(coordinator_, "REGISTRATION")[0].delivery_id(),
             v1::Receipt::EVENT_INJECTED);
  const auto response = Register(fresh);
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->coordinator_attached());
  const auto notices = NoticesOf(coordinator_, "REGISTRATION");
  ASSERT_THAT(notices, SizeIs(2));
  EXPECT_THAT(notices[1].envelope().text(), HasSubstr("sessionId: x-1"));
  EXPECT_FALSE(notices[1].envelope().quiet());
}

TEST_F(RegisterTest, AnUnreadAnnouncementIsNotDoubled) {
  Detach(coordinator_);
  const TestSession fresh = Join("x-1");
  const auto response = Register(fresh);
  ASSERT_THAT(response, IsOk());
  EXPECT_FALSE(response->coordinator_attached());
  EXPECT_EQ(MailboxOf("c-1").envelopes, 1);
}

TEST_F(RegisterTest, ItIsWithdrawnWhenTheSessionGoes) {
  Detach(coordinator_);
  const TestSession fresh = Join("x-1");
  EXPECT_THAT(Register(fresh), IsOk());
  Detach(fresh);
  EXPECT_EQ(MailboxOf("c-1").envelopes, 0);
}

TEST_F(RegisterTest, ConfiguredSessionsDoNotRegister) {
  EXPECT_THAT(Register(worker_),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  EXPECT_THAT(Register(coordinator_),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

}  // namespace
}  // namespace intercom
