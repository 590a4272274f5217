#include "broker/work/config_desk.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/work_rig.h"

namespace intercom {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A coordinator, which is attached, and a worker, which is not.
class ConfigDeskTest : public WorkRig {
 protected:
  ConfigDeskTest() {
    WriteTeam();
    coordinator_ = Join("c-1");
  }
  absl::StatusOr<v1::RemoveWorkerResponse> Remove(
      const std::string& to = "Reviewer") {
    v1::RemoveWorkerRequest request;
    request.set_to(to);
    return CallOn(config_desk_, &ConfigDesk::Remove, CallOf(coordinator_),
                  request);
  }
  absl::StatusOr<v1::SetMultiplexerResponse> SetMultiplexer(
      const std::string& name) {
    v1::SetMultiplexerRequest request;
    request.set_multiplexer(name);
    return CallOn(config_desk_, &ConfigDesk::SetMultiplexer,
                  CallOf(coordinator_), request);
  }
  std::string Config() const { return ReadText(ConfigPath(root_)); }

  TestSession coordinator_;
};

// --- Remove

TEST_F(ConfigDeskTest, RemovingTakesTheEntryOutAndNothingElse) {
  const auto response = Remove();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->entry().name(), "Reviewer");
  EXPECT_EQ(response->refused(), 0);
  EXPECT_EQ(Config(), ConfigText({{"c-1", "Coordinator"}}));
  EXPECT_THAT(Remove(),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
}

TEST_F(ConfigDeskTest, AnAttachedWorkerStaysAndTheWayOutIsTold) {
  Join("w-1");
  const std::string before = Config();
  const auto refused = Remove();
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "WORKER_ATTACHED"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("intercom_close_worker"));
  EXPECT_EQ(Config(), before);
}

TEST_F(ConfigDeskTest, AFencedWorkerStaysAndItsJobIsNamed) {
  const std::string before = Config();
  CloseJobIs("w-1", v1::Job::STATE_AWAITING_HANDOFF);
  const auto refused = Remove();
  EXPECT_THAT(refused, FailsWith(absl::StatusCode::kFailedPrecondition,
                                 "WORKER_FENCED"));
  EXPECT_THAT(MessageOf(refused.status()), HasSubstr("j-1"));
  EXPECT_EQ(Config(), before);
}

TEST_F(ConfigDeskTest, TheCoordinatorIsNotRemoved) {
  EXPECT_THAT(Remove("Coordinator"),
              FailsWith(absl::StatusCode::kFailedPrecondition,
                        "TARGET_IS_COORDINATOR"));
  EXPECT_THAT(Remove("nobody"),
              FailsWith(absl::StatusCode::kNotFound, "UNKNOWN_WORKER"));
}

TEST_F(ConfigDeskTest, ReportAndHandoffAreForgotten) {
  const TestSession worker = Join("w-1");
  EXPECT_THAT(ReportWork(worker, v1::Report::STATUS_BLOCKED, "x"), IsOk());
  HandoffIs("w-1", "half done");
  Detach(worker);
  EXPECT_THAT(Remove(), IsOk());
  EXPECT_EQ(OnState([&] { return reports_.Find(root_, "w-1").value(); }),
            std::nullopt);
  EXPECT_EQ(OnState([&] { return handoffs_.Find(root_, "w-1").value(); }),
            std::nullopt);
}

TEST_F(ConfigDeskTest, WaitingMailIsRefusedToItsSenders) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  EXPECT_THAT(Send(Person(), "Reviewer", Message("e2"), root_), IsOk());
  const auto response = Remove();
  ASSERT_THAT(response, IsOk());
  EXPECT_EQ(response->refused(), 2);
  const v1::DeliveryRecord record = RecordOf("c-1/e1");
  EXPECT_EQ(record.end(), v1::DELIVERY_END_REFUSED);
  EXPECT_THAT(record.end_evidence(), HasSubstr("removed"));
  EXPECT_EQ(MailboxOf("w-1").envelopes, 0);
  const auto notices = NoticesOf(coordinator_, "REFUSED");
  ASSERT_THAT(notices, SizeIs(1));  // A person reads intercom status.
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("e1 to Reviewer"));
  EXPECT_THAT(notices[0].envelope().text(), HasSubstr("removed"));
}

TEST_F(ConfigDeskTest, MuchMailIsRefusedInStepsAndCounted) {
  for (int i = 0; i < 250; ++i) {
    EXPECT_THAT(PostAccept(Message("e" + std::to_string(i)), SenderNamed("c-1"),
                           {"w-1", "Reviewer", {}})
                    .Wait(),
                IsOk());
  }
  EXPECT_EQ(Remove()->refused(), 250);
  EXPECT_EQ(MailboxOf("w-1").envelopes, 0);
  EXPECT_EQ(MailboxOf("c-1").envelopes, 250);  // each end is told
}

TEST_F(ConfigDeskTest, WhatMayHaveArrivedIsSaidToBeUnknown) {
  const TestSession worker = Join("w-1");
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  Detach(worker);
  EXPECT_THAT(Remove(), IsOk());
  EXPECT_THAT(NoticesOf(coordinator_, "REFUSED")[0].envelope().text(),
              HasSubstr("may have arrived"));
}

TEST_F(ConfigDeskTest, ARemovedSessionThatAttachesIsAnonymous) {
  EXPECT_THAT(Remove(), IsOk());
  EXPECT_EQ(Join("w-1").link->welcome().role(), v1::ROLE_ANONYMOUS);
}

TEST_F(ConfigDeskTest, MailToAnEntryThatIsGoneExpiresUnlessItComesBack) {
  const std::string team = Config();
  const std::string alone = ConfigText({{"c-1", "Coordinator"}});
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  WriteConfig(root_, alone);
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_TRUE(RecordOf("c-1/e1").has_expires_at());
  WriteConfig(root_, team);
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_FALSE(RecordOf("c-1/e1").has_expires_at());
  WriteConfig(root_, alone);
  EXPECT_THAT(ReadConfigNow(), IsOk());
  Advance(kUnconfiguredKept);
  dispatcher_.ExpireDue();
  Sync();
  EXPECT_EQ(RecordOf("c-1/e1").end(), v1::DELIVERY_END_EXPIRED);
  EXPECT_THAT(NoticesOf(coordinator_, "EXPIRED"), SizeIs(1));
}

TEST_F(ConfigDeskTest, MailToOneThatACopyOfTheWorkspaceNamesDoesNotExpire) {
  EXPECT_THAT(Send(CallOf(coordinator_), "Reviewer", Message("e1")), IsOk());
  const std::string original = std::exchange(root_, dir_ / "copy");
  WriteConfig(root_, ReadText(ConfigPath(original)));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  WriteConfig(root_, ConfigText({{"c-1", "Coordinator"}}));
  EXPECT_THAT(ReadConfigNow(), IsOk());
  EXPECT_FALSE(RecordOf("c-1/e1").has_expires_at());
}

TEST_F(ConfigDeskTest, AQueuedChangeOfADeadGenerationIsRefused) {
  const std::string before = Config();
  Answer<absl::StatusOr<v1::SetMultiplexerResponse>> set;
  Answer<absl::StatusOr<v1::RemoveWorkerResponse>> removed;
  WhileQueued(
      [&] {
        v1::SetMultiplexerRequest multiplexer;
        multiplexer.set_multiplexer("tmux");
        config_desk_.SetMultiplexer(CallOf(coordinator_), multiplexer,
                                    set.Callback());
        v1::RemoveWorkerRequest worker;
        worker.set_to("Reviewer");
        config_desk_.Remove(CallOf(coordinator_), worker, removed.Callback());
      },
      [&] { Detach(coordinator_); });
  EXPECT_THAT(set.Wait(), FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
  EXPECT_THAT(removed.Wait(),
              FailsWith(absl::StatusCode::kAborted, "OLD_EPOCH"));
  EXPECT_EQ(Config(), before);
}

TEST_F(ConfigDeskTest, OnlyTheCoordinatorRemoves) {
  v1::RemoveWorkerRequest request;
  request.set_to("Reviewer");
  EXPECT_THAT(
      CallOn(config_desk_, &ConfigDesk::Remove, CallOf(Join("w-1")), request),
      FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
  EXPECT_THAT(CallOn(config_desk_, &ConfigDesk::Remove, Person(), request),
              FailsWith(absl::StatusCode::kPermissionDenied, "NOT_PERMITTED"));
}

TEST_F(ConfigDeskTest, NothingIsWrittenOnceTheFileNamesAnotherCoordinator) {
  const std::string text =
      ConfigText({{"x-9", "Coordinator"}, {"w-1", "Reviewer"}});
  WriteConfig(root_, text);
  EXPECT_THAT(Remove(), FailsWith(absl::StatusCode::kFailedPrecondition,
                                  "COORDINATOR_CHANGED"));
  EXPECT_THAT(
      SetMultiplexer("tmux"),
      FailsWith(absl::StatusCode::kFailedPrecondition, "COORDINATOR_CHANGED"));
  EXPECT_EQ(Config(), text);
}

// --- SetMultiplexer

TEST_F(ConfigDeskTest, TheLauncherIsWrittenAndKnown) {
  const auto response = SetMultiplexer("tmux");
  ASSERT_THAT(response, IsOk());
  EXPECT_TRUE(response->changed());
  EXPECT_EQ(response->multiplexer(), "tmux");
  EXPECT_THAT(Config(), HasSubstr("\"multiplexer\": \"tmux\""));
  EXPECT_THAT(Config(), Not(HasSubstr("\"none\"")));
  EXPECT_EQ(OnState([&] { return mirror_.Find(root_)->multiplexer; }), "tmux");
  EXPECT_FALSE(SetMultiplexer("tmux")->changed());
}

TEST_F(ConfigDeskTest, EveryLauncherOfAConfigMayBeSetAndNoOther) {
  for (const char* name : {"herdr", "tmux", "none", "headless"}) {
    EXPECT_THAT(SetMultiplexer(name), IsOk()) << name;
  }
  const std::string before = Config();
  for (const char* name : {"", "screen", "Tmux", "tmux "}) {
    EXPECT_THAT(
        SetMultiplexer(name),
        FailsWith(absl::StatusCode::kInvalidArgument, "MULTIPLEXER_UNKNOWN"));
  }
  EXPECT_EQ(Config(), before);
}

// --- Check

class ConfigCheckTest : public ConfigDeskTest {
 protected:
  absl::StatusOr<v1::CheckConfigResponse> Check(
      const CallerEvidence& evidence, const std::string& directory = "") {
    v1::CheckConfigRequest request;
    request.set_directory(directory);
    return CallOn(config_desk_, &ConfigDesk::Check, evidence, request);
  }
};

TEST_F(ConfigCheckTest, AGoodConfigHasItsFactsAndNoErrors) {
  const auto checked = Check(Person(), root_);
  ASSERT_THAT(checked, IsOk());
  EXPECT_EQ(checked->root(), root_);
  EXPECT_EQ(checked->file(), ConfigPath(root_));
  EXPECT_EQ(checked->agents(), 2);
  for (const v1::ConfigFinding& finding : checked->findings()) {
    EXPECT_EQ(finding.severity(), v1::ConfigFinding::SEVERITY_NOTE)
        << finding.message();
  }
}

TEST_F(ConfigCheckTest, ABrokenConfigIsAnAnswerThatNamesThePlace) {
  WriteConfig(root_, "{\n  nonsense");
  const auto checked = Check(Person(), root_);
  ASSERT_THAT(checked, IsOk());
  ASSERT_EQ(checked->findings_size(), 1);
  EXPECT_EQ(checked->findings(0).severity(), v1::ConfigFinding::SEVERITY_ERROR);
  EXPECT_THAT(checked->findings(0).message(), HasSubstr("line 2, column"));
  EXPECT_THAT(checked->findings(0).remedy(), Not(IsEmpty()));
}

TEST_F(ConfigCheckTest, ASessionChecksItsOwnWithoutNamingIt) {
  EXPECT_EQ(Check(CallOf(coordinator_))->root(), root_);
}

TEST_F(ConfigCheckTest, WhereThereIsNoWorkspaceNothingIsChecked) {
  for (const std::string& directory : {std::string(), dir_.path().string()}) {
    EXPECT_THAT(
        Check(Person(), directory),
        FailsWith(absl::StatusCode::kFailedPrecondition, "NO_WORKSPACE"));
  }
}

TEST_F(ConfigCheckTest, AnotherCoordinatorIsAWarningUntilAPersonConfirms) {
  WriteConfig(root_, ConfigText({{"c-9", "Coordinator"}, {"w-1", "Reviewer"}}));
  const auto checked = Check(Person(), root_);
  ASSERT_THAT(checked, IsOk());
  ASSERT_GE(checked->findings_size(), 1);
  EXPECT_EQ(checked->findings(0).severity(),
            v1::ConfigFinding::SEVERITY_WARNING);
  EXPECT_THAT(checked->findings(0).message(), HasSubstr("c-9"));
  EXPECT_THAT(checked->findings(0).remedy(),
              HasSubstr("intercom coordinator take"));
}

}  // namespace
}  // namespace intercom
