// What a supervisor's session is told of its runs: bulletins and their ends.

#include "worker-agent/run_news_desk.h"

#include <string>
#include <vector>

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/unit/link/fake_runner.h"

namespace intercom {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// The host is what was notified; the broker is what was sent.
class RunNewsDeskTest : public ::testing::Test {
 protected:
  static v1::SettledRun Ended(const std::string& id,
                              const std::string& text = "all") {
    v1::SettledRun settled;
    settled.mutable_run()->set_run_id(id);
    settled.mutable_run()->set_state(v1::Run::STATE_DONE);
    settled.mutable_result()->set_text(text);
    return settled;
  }
  static v1::Run Stalled(const std::string& id, int64_t since) {
    v1::Run run;
    run.set_run_id(id);
    run.set_state(v1::Run::STATE_RUNNING);
    run.mutable_last_advance_at()->set_seconds(since);
    return run;
  }
  static v1::RunNews News(const std::vector<std::string>& settled, int open) {
    v1::RunNews news;
    for (const std::string& id : settled) *news.add_settled() = Ended(id);
    news.set_open(open);
    return news;
  }
  void Shown(const Json& bulletin) {
    bulletins_.HandleShown({{"topic", "runs"}, {"key", bulletin["key"]}});
  }
  // What the broker was told, and forgets it.
  std::vector<std::string> Told() {
    std::vector<std::string> told;
    for (const v1::RunsTold& frame : std::exchange(told_, {})) {
      for (const auto& id : frame.announced())
        told.push_back("announced " + id);
      for (const auto& id : frame.collected())
        told.push_back("collected " + id);
      for (const auto& id : frame.stalled()) told.push_back("stalled " + id);
    }
    return told;
  }
  const Json& Last() { return said_.back(); }

  FakeClock clock_;
  FakeRunner runner_{clock_};
  SystemRandom random_;
  std::vector<Json> said_;
  std::vector<v1::RunsTold> told_;
  absl::StatusOr<v1::ListRunsResponse> listed_;
  Bulletins bulletins_{random_,
                       [this](const std::string& method, const Json& params) {
                         EXPECT_EQ(method, "bulletin");
                         said_.push_back(params);
                       }};
  RunNewsDesk desk_{
      bulletins_,
      {.runner = runner_,
       .clock = clock_,
       .send =
           [this](const v1::AttachRequest& frame) {
             told_.push_back(frame.runs_told());
           },
       .list_runs = [this](const auto& answer) { answer(listed_); }}};
};

TEST_F(RunNewsDeskTest, AnEndIsSaidOnceAndToldOnceItIsInTheSession) {
  desk_.Handle(News({"run-1"}, 1));
  ASSERT_THAT(said_, SizeIs(1));
  EXPECT_EQ(Last()["topic"], "runs");
  EXPECT_EQ(Last()["ids"], Json({"run-1"}));
  EXPECT_EQ(Last()["quiet"], false);
  EXPECT_THAT(Last()["content"].get<std::string>(), HasSubstr("> all"));
  EXPECT_THAT(Told(), IsEmpty());

  Shown(Last());
  EXPECT_THAT(Told(), ElementsAre("announced run-1"));
  EXPECT_THAT(said_, SizeIs(1));
}

TEST_F(RunNewsDeskTest, TheSameNewsAgainAreNotSaidAgain) {
  desk_.Handle(News({"run-1"}, 1));
  desk_.Handle(News({"run-1"}, 1));
  EXPECT_THAT(said_, SizeIs(1));
}

TEST_F(RunNewsDeskTest, ABurstIsOneBulletinThatReplacesTheEarlierOnes) {
  desk_.Handle(News({"run-1"}, 2));
  desk_.Handle(News({"run-1", "run-2"}, 1));
  desk_.Handle(News({"run-1", "run-2", "run-3"}, 0));
  EXPECT_EQ(Last()["ids"], Json({"run-1", "run-2", "run-3"}));
  EXPECT_NE(said_[0]["key"], Last()["key"]);
  Shown(Last());
  EXPECT_THAT(Told(), ElementsAre("announced run-1", "announced run-2",
                                  "announced run-3"));
}

TEST_F(RunNewsDeskTest, NewsThatCrossedWithWhatWasToldAreNotSaidOrToldAgain) {
  desk_.Handle(News({"run-1"}, 1));
  Shown(Last());
  EXPECT_THAT(Told(), SizeIs(1));
  desk_.Handle(News({"run-1"}, 1));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_THAT(said_, SizeIs(1));
}

TEST_F(RunNewsDeskTest, WhatABrokenStreamLostIsToldAgainOnTheNext) {
  desk_.Handle(News({"run-1"}, 1));
  Shown(Last());
  EXPECT_THAT(Told(), SizeIs(1));
  desk_.StreamStarted();
  desk_.Handle(News({"run-1"}, 1));
  EXPECT_THAT(Told(), ElementsAre("announced run-1"));
  desk_.Handle(News({"run-1"}, 1));
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_THAT(said_, SizeIs(1));
}

TEST_F(RunNewsDeskTest, WhatACallCollectedIsTakenOutAtOnce) {
  desk_.Handle(News({"run-1", "run-2"}, 0));
  desk_.Collected({"run-1"});
  EXPECT_THAT(Told(), ElementsAre("collected run-1"));
  EXPECT_EQ(Last()["ids"], Json({"run-2"}));
  desk_.Collected({"run-2"});
  EXPECT_EQ(Last()["key"], "");
  EXPECT_FALSE(Last().contains("content"));
}

TEST_F(RunNewsDeskTest, WhatWasAnnouncedIsCollectedByTheFirstCallThatGetsIt) {
  desk_.Handle(News({"run-1"}, 0));
  Shown(Last());
  desk_.Collected({"run-1"});
  desk_.Collected({"run-1"});
  EXPECT_THAT(Told(), ElementsAre("announced run-1", "collected run-1"));
}

TEST_F(RunNewsDeskTest, WhatWasCollectedBeforeItsNewsCameIsNeverSaid) {
  desk_.Collected({"run-1"});
  desk_.Handle(News({}, 1));
  desk_.Handle(News({"run-1"}, 0));
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_THAT(Told(), ElementsAre("collected run-1"));
}

TEST_F(RunNewsDeskTest, WhatStandsInTheSessionAlreadyIsSaidWithoutIt) {
  desk_.Handle(News({"run-1", "run-2"}, 0));
  bulletins_.HandleShown({{"topic", "runs"}, {"ids", {"run-1"}}});
  EXPECT_THAT(Told(), ElementsAre("announced run-1"));
  EXPECT_EQ(Last()["ids"], Json({"run-2"}));
}

TEST_F(RunNewsDeskTest, OneThatWasReplacedWhileItWasHandedOverCounts) {
  desk_.Handle(News({"run-1"}, 1));
  const Json first = Last();
  desk_.Handle(News({"run-1", "run-2"}, 0));
  Shown(first);
  EXPECT_THAT(Told(), ElementsAre("announced run-1"));
  EXPECT_EQ(Last()["ids"], Json({"run-2"}));
}

TEST_F(RunNewsDeskTest, AStallIsSaidOnceAndAgainAfterAnAdvance) {
  v1::RunNews news = News({}, 1);
  *news.add_stalled() = Stalled("run-1", 100);
  desk_.Handle(news);
  EXPECT_THAT(Last()["content"].get<std::string>(), HasSubstr("has stalled"));
  EXPECT_EQ(Last()["quiet"], false);
  Shown(Last());
  EXPECT_THAT(Told(), ElementsAre("stalled run-1"));
  desk_.Handle(news);
  EXPECT_THAT(said_, SizeIs(1));

  *news.mutable_stalled(0) = Stalled("run-1", 300);
  desk_.Handle(news);
  ASSERT_THAT(said_, SizeIs(2));
  Shown(Last());
  EXPECT_THAT(Told(), ElementsAre("stalled run-1"));
}

TEST_F(RunNewsDeskTest, AStallThatIsOverBeforeItWasShownIsTakenBack) {
  v1::RunNews news = News({}, 1);
  *news.add_stalled() = Stalled("run-1", 100);
  desk_.Handle(news);
  desk_.Handle(News({}, 1));
  EXPECT_EQ(Last()["key"], "");
}

TEST_F(RunNewsDeskTest, AQuietCheckInComesWhenNothingElseWasSaid) {
  listed_ = v1::ListRunsResponse();
  *listed_->add_runs() = Stalled("run-1", 0);
  desk_.Handle(News({}, 1));
  runner_.Advance(absl::Minutes(5) - absl::Seconds(1));
  EXPECT_THAT(said_, IsEmpty());
  runner_.Advance(absl::Seconds(1));
  ASSERT_THAT(said_, SizeIs(1));
  EXPECT_EQ(Last()["quiet"], true);
  EXPECT_THAT(Last()["content"].get<std::string>(),
              AllOf(HasSubstr("How your runs go"), HasSubstr("run-1")));
}

TEST_F(RunNewsDeskTest, ANextCheckInComesOnlyIfThePreviousOneWasShown) {
  listed_ = v1::ListRunsResponse();
  *listed_->add_runs() = Stalled("run-1", 0);
  desk_.Handle(News({}, 1));
  runner_.Advance(absl::Minutes(20));
  ASSERT_THAT(said_, SizeIs(1));
  Shown(Last());
  EXPECT_THAT(Told(), IsEmpty());
  runner_.Advance(absl::Minutes(5));
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(RunNewsDeskTest, WhatElseIsSaidPutsTheCheckInOff) {
  listed_ = v1::ListRunsResponse();
  *listed_->add_runs() = Stalled("run-2", 0);
  desk_.Handle(News({}, 2));
  runner_.Advance(absl::Minutes(4));
  desk_.Handle(News({"run-1"}, 1));
  Shown(Last());
  runner_.Advance(absl::Minutes(4));
  EXPECT_THAT(said_, SizeIs(1));
  runner_.Advance(absl::Minutes(1));
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(RunNewsDeskTest, ACheckInIsTakenBackWhenNothingIsOpenAnyMore) {
  listed_ = v1::ListRunsResponse();
  *listed_->add_runs() = Stalled("run-1", 0);
  desk_.Handle(News({}, 1));
  runner_.Advance(absl::Minutes(5));
  desk_.Handle(News({}, 0));
  EXPECT_EQ(Last()["key"], "");
  runner_.Advance(absl::Minutes(30));
  EXPECT_THAT(said_, SizeIs(2));
}

TEST_F(RunNewsDeskTest, ACheckInThatIsNotShownYetGivesWayToNews) {
  listed_ = v1::ListRunsResponse();
  *listed_->add_runs() = Stalled("run-1", 0);
  desk_.Handle(News({}, 1));
  runner_.Advance(absl::Minutes(5));
  desk_.Handle(News({"run-1"}, 0));
  EXPECT_EQ(Last()["ids"], Json({"run-1"}));
  EXPECT_EQ(Last()["quiet"], false);
}

TEST_F(RunNewsDeskTest, WithoutABrokerThereIsNoCheckInAndALaterOneComes) {
  listed_ = Error(absl::StatusCode::kUnavailable, "NOT_CONNECTED", "not now");
  desk_.Handle(News({}, 1));
  runner_.Advance(absl::Minutes(5));
  EXPECT_THAT(said_, IsEmpty());
  listed_ = v1::ListRunsResponse();
  *listed_->add_runs() = Stalled("run-1", 0);
  runner_.Advance(absl::Minutes(5));
  EXPECT_THAT(said_, SizeIs(1));
}

TEST_F(RunNewsDeskTest, WhatTheHostDroppedIsSaidAgainUnderItsKey) {
  desk_.Handle(News({"run-1"}, 0));
  bulletins_.Repeat();
  ASSERT_THAT(said_, SizeIs(2));
  EXPECT_EQ(said_[0], said_[1]);
}

TEST_F(RunNewsDeskTest, TopicsStandBesideEachOther) {
  std::vector<std::string> shown;
  bulletins_.Listen("watch",
                    [&](const std::vector<std::string>& ids) { shown = ids; });
  desk_.Handle(News({"run-1"}, 0));
  bulletins_.Say("watch", {.ids = {"w-1"}, .content = "x", .summary = "x"});
  EXPECT_TRUE(bulletins_.IsSaid("runs"));
  bulletins_.HandleShown({{"topic", "watch"}, {"key", Last()["key"]}});
  EXPECT_THAT(shown, ElementsAre("w-1"));
  EXPECT_FALSE(bulletins_.IsSaid("watch"));
  EXPECT_TRUE(bulletins_.IsSaid("runs"));
  EXPECT_THAT(Told(), IsEmpty());
}

TEST_F(RunNewsDeskTest, AKeyThatIsNoneOfItsOwnTellsNothing) {
  desk_.Handle(News({"run-1"}, 0));
  bulletins_.HandleShown({{"topic", "runs"}, {"key", "forged"}});
  EXPECT_THAT(Told(), IsEmpty());
  EXPECT_TRUE(bulletins_.IsSaid("runs"));
}

}  // namespace
}  // namespace intercom
