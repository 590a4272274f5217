// What an overview shows, and when it is shown again.
#include "broker/work/overview.h"

#include "broker/work/overview_watch.h"
#include "tests/support/watch_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class OverviewTest : public WatchRig {
 protected:
  static std::vector<std::string> IdsIn(const v1::WorkspaceOverview& overview) {
    std::vector<std::string> ids;
    for (const auto& session : overview.sessions()) {
      ids.push_back(session.entry().session_id());
    }
    return ids;
  }
  // Begun, with its first overview taken.
  Overviews Watching() {
    auto overviews = TryWatchOverview();
    EXPECT_THAT(overviews, IsOk());
    EXPECT_THAT(overviews->TakeAll(), SizeIs(1));
    *overviews->wakes = 0;
    return *overviews;
  }
};

TEST_F(OverviewTest, TheCoordinatorComesFirstThenTheConfigThenTheOthers) {
  WriteConfig(root_, ConfigText({{"w-1", "Builder"},
                                 {"c-1", "Coordinator"},
                                 {"w-2", "Tester"}},
                                /*coordinator=*/"c-1"));
  Join("x-2");
  Join("x-1");
  Join("w-2");
  const TestSession peer = AttachPeer("p-1");

  const auto overview = OverviewNow();
  ASSERT_EQ(overview.workspaces_size(), 2);
  EXPECT_EQ(overview.workspaces(0).root(), root_);
  EXPECT_EQ(overview.workspaces(0).coordinator_session_id(), "c-1");
  EXPECT_THAT(IdsIn(overview.workspaces(0)),
              ElementsAre("c-1", "w-1", "w-2", "x-2", "x-1"));
  EXPECT_EQ(overview.workspaces(1).root(), "");
  EXPECT_THAT(IdsIn(overview.workspaces(1)), ElementsAre("p-1"));
  EXPECT_EQ(overview.broker_version(), "0.0.0");
  EXPECT_THAT(overview.notices(), ElementsAre("a notice"));
  EXPECT_EQ(overview.minutes_size(), 60);
}

TEST_F(OverviewTest, OfOneWorkspaceItShowsNothingElse) {
  Join("c-1");
  AttachPeer("p-1");
  const auto overview = OverviewNow(root_);
  ASSERT_EQ(overview.workspaces_size(), 1);
  EXPECT_EQ(overview.workspaces(0).sessions_size(), 3);
}

TEST_F(OverviewTest, AWorkspaceThatNobodyOpenedYetIsReadFromItsConfig) {
  auto overviews = TryWatchOverview(root_);
  ASSERT_THAT(overviews, IsOk());
  // Behind the look at the config that this began.
  Answer<absl::StatusOr<ConfigSnapshotPtr>> passed;
  runner_->PostTask([&] { lanes_.Snapshot(root_, passed.Callback()); });
  ASSERT_THAT(passed.Wait(), IsOk());
  Sync();
  Pass(absl::Milliseconds(250));
  const auto taken = overviews->TakeAll();
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(taken.back().workspaces(0).sessions_size(), 3);
}

TEST_F(OverviewTest, ARowHasMailReportRunAndQuestions) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  SayActivity(builder, v1::ACTIVITY_PHASE_TOOL, "Running command");
  ASSERT_THAT(ReportWork(builder, v1::Report::STATUS_BLOCKED, "a secret"),
              IsOk());
  const std::string run = OpenRun(coordinator, "m-1");
  SayReceipt(builder, run, v1::Receipt::EVENT_INJECTED);
  OpenRun(coordinator, "m-2");
  ASSERT_THAT(Send(CallOf(coordinator), "Tester", Message("m-3")), IsOk());
  ASSERT_THAT(Send(CallOf(coordinator), "Builder", Question("q-1")), IsOk());
  CloseJobIs("w-2", v1::Job::STATE_CLOSING);

  const auto overview = OverviewNow();
  const auto row = RowOf(overview, "w-1");
  EXPECT_EQ(row.entry().presence(), v1::PRESENCE_ATTACHED);
  EXPECT_EQ(row.last_activity().label(), "Running command");
  EXPECT_EQ(row.entry().report().status(), v1::Report::STATUS_BLOCKED);
  EXPECT_EQ(row.run().delivery_id(), run);
  EXPECT_EQ(row.run().state(), v1::Run::STATE_RUNNING);
  EXPECT_EQ(row.more_runs(), 1);
  EXPECT_EQ(row.asked(), 1);
  EXPECT_EQ(RowOf(overview, "w-2").entry().waiting(), 1);
  EXPECT_EQ(RowOf(overview, "w-2").entry().job().state(),
            v1::Job::STATE_CLOSING);
  EXPECT_THAT(overview.SerializeAsString(), Not(HasSubstr("secret")));
  // The responsibility is not in it.
  EXPECT_EQ(row.entry().description(), "");
}

TEST_F(OverviewTest, WhatThePersonHasNotReadIsCounted) {
  const TestSession builder = Join("w-1");
  EXPECT_EQ(OverviewNow().unread(), 0);
  for (const char* id : {"m-1", "m-2"}) {
    ASSERT_THAT(Send(CallOf(builder), "person", Message(id)), IsOk());
  }
  EXPECT_EQ(OverviewNow().unread(), 2);
}

TEST_F(OverviewTest, OneThatLeftKeepsItsLastActivity) {
  const TestSession builder = Join("w-1");
  SayActivity(builder, v1::ACTIVITY_PHASE_TOOL, "Running command");
  clock_.Advance(absl::Minutes(1));
  const absl::Time left_at = clock_.Now();
  Detach(builder);
  clock_.Advance(absl::Hours(2));

  const auto row = RowOf(OverviewNow(), "w-1");
  EXPECT_EQ(row.entry().presence(), v1::PRESENCE_AWAY);
  EXPECT_EQ(row.last_activity().label(), "Running command");
  EXPECT_EQ(FromProto(row.last_seen_at()), left_at);
}

TEST_F(OverviewTest, WhatAnEarlierBrokerSawIsReadOnceFromTheDisk) {
  SessionRow stored;
  stored.session_id = "w-1";
  stored.workspace_root = root_;
  stored.last_seen_at = clock_.Now() - absl::Hours(3);
  OnState([&] {
    EXPECT_THAT(session_store_.Attach(stored), IsOk());
    v1::Observation activity;
    *activity.mutable_at() = ToProto(stored.last_seen_at);
    activity.set_session_id("w-1");
    activity.set_kind("activity");
    activity.set_phase("thinking");
    activity.set_label("Thinking");
    EXPECT_THAT(observation_store_.Add(activity), IsOk());
    return true;
  });
  Join("c-1");
  for (int i = 0; i < 2; ++i) {
    const auto row = RowOf(OverviewNow(), "w-1");
    EXPECT_EQ(FromProto(row.last_seen_at()), stored.last_seen_at);
    EXPECT_EQ(row.last_activity().phase(), v1::ACTIVITY_PHASE_THINKING);
  }
  EXPECT_FALSE(RowOf(OverviewNow(), "w-2").has_last_seen_at());
}

TEST_F(OverviewTest, WaitsAreEdgesUntilTheirGraceIsOver) {
  Join("c-1");
  const TestSession builder = Join("w-1");
  ASSERT_THAT(Send(CallOf(builder), "Coordinator", Question("q-1")), IsOk());
  const absl::Time asked_at = clock_.Now();
  Overviews overviews = Watching();

  const auto overview = OverviewNow();
  ASSERT_EQ(overview.waits_size(), 1);
  const v1::WaitEdge& edge = overview.waits(0);
  EXPECT_EQ(edge.kind(), v1::WaitEdge::KIND_ASK);
  EXPECT_EQ(edge.waiting_session_id(), "w-1");
  EXPECT_EQ(edge.waiting_name(), "Builder");
  EXPECT_EQ(edge.for_name(), "Coordinator");
  EXPECT_EQ(FromProto(edge.since()), asked_at);

  // Nobody waits for the reply: it is no edge after 10 s, and that is shown.
  overviews.TakeAll();
  Pass(absl::Seconds(10));
  Pass(absl::Milliseconds(250));
  const auto taken = overviews.TakeAll();
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(taken.back().waits_size(), 0);
}

TEST_F(OverviewTest, AWaitForARunIsAnEdgeSinceItBegan) {
  const TestSession coordinator = Join("c-1");
  Join("w-1");
  OpenRun(coordinator, "m-1");
  clock_.Advance(absl::Minutes(3));
  const absl::Time began_at = clock_.Now();
  v1::AwaitRunsRequest await;
  *await.mutable_wait() = ToProtoDuration(absl::Seconds(30));
  for (int repeat = 0; repeat < 3; ++repeat) {
    Answer<absl::StatusOr<v1::AwaitRunsResponse>> runs;
    run_waits_.AwaitRuns(CallOf(coordinator), await, runs.Callback());
    Sync();
    Pass(absl::Seconds(29));
    const auto overview = OverviewNow();
    ASSERT_EQ(overview.waits_size(), 1);
    EXPECT_EQ(overview.waits(0).kind(), v1::WaitEdge::KIND_RUN);
    EXPECT_EQ(overview.waits(0).waiting_name(), "Coordinator");
    EXPECT_EQ(overview.waits(0).for_name(), "Builder");
    EXPECT_EQ(FromProto(overview.waits(0).since()), began_at);
    Pass(absl::Seconds(1));
    EXPECT_THAT(runs.Wait(), IsOk());
  }
  Pass(absl::Seconds(10));
  EXPECT_EQ(OverviewNow().waits_size(), 0);
}

TEST_F(OverviewTest, ABurstIsShownOnceAfter250Milliseconds) {
  const TestSession builder = Join("w-1");
  Overviews overviews = Watching();
  for (int i = 0; i < 20; ++i) {
    SayActivity(builder, v1::ACTIVITY_PHASE_TOOL,
                i % 2 == 0 ? "Running command" : "Reading files");
  }
  EXPECT_EQ(*overviews.wakes, 0);
  Pass(absl::Milliseconds(249));
  EXPECT_EQ(*overviews.wakes, 0);
  Pass(absl::Milliseconds(1));
  EXPECT_EQ(*overviews.wakes, 1);
  const auto taken = overviews.TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(RowOf(taken[0], "w-1").last_activity().label(), "Reading files");
}

TEST_F(OverviewTest, WithoutAChangeNothingIsDone) {
  Join("w-1");
  Overviews overviews = Watching();
  for (int i = 0; i < 100; ++i) Pass(absl::Minutes(1));
  EXPECT_EQ(*overviews.wakes, 0);
  EXPECT_THAT(overviews.TakeAll(), IsEmpty());
}

TEST_F(OverviewTest, OneThatReadsSlowlyGetsTheNewestOnly) {
  const TestSession builder = Join("w-1");
  Overviews overviews = Watching();
  for (const char* label : {"Reading files", "Editing files", "Thinking"}) {
    SayActivity(builder, v1::ACTIVITY_PHASE_WORKING, label);
    Pass(absl::Milliseconds(250));
  }
  const auto taken = overviews.TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(RowOf(taken[0], "w-1").last_activity().label(), "Thinking");
}

TEST_F(OverviewTest, ThoseWhoWatchTheSameShareOneMessage) {
  const TestSession builder = Join("w-1");
  Overviews first = Watching();
  Overviews second = Watching();
  SayActivity(builder, v1::ACTIVITY_PHASE_WORKING, "Thinking");
  Pass(absl::Milliseconds(250));
  const auto a = first.watch->Take();
  const auto b = second.watch->Take();
  ASSERT_THAT(a, IsOk());
  ASSERT_THAT(b, IsOk());
  EXPECT_NE(*a, nullptr);
  EXPECT_EQ(*a, *b);
}

TEST_F(OverviewTest, AReportIsOverdueWhenItsTimeComesAlthoughNothingHappens) {
  Join("c-1");
  const TestSession builder = Join("w-1");
  ASSERT_THAT(ReportWork(builder, v1::Report::STATUS_NEEDS_DECISION, "which?"),
              IsOk());
  Overviews overviews = Watching();
  Pass(Reports::kOverdueAfter - absl::Seconds(1));
  Pass(absl::Milliseconds(250));
  EXPECT_THAT(overviews.TakeAll(), IsEmpty());
  Pass(absl::Seconds(1));
  Pass(absl::Milliseconds(250));
  const auto taken = overviews.TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_TRUE(RowOf(taken[0], "w-1").entry().report().overdue());
  // And no timer runs from here on.
  for (int i = 0; i < 50; ++i) Pass(absl::Minutes(1));
  EXPECT_THAT(overviews.TakeAll(), IsEmpty());
}

TEST_F(OverviewTest, TheClockSetBackMakesNoLoop) {
  Join("c-1");
  const TestSession builder = Join("w-1");
  ASSERT_THAT(ReportWork(builder, v1::Report::STATUS_NEEDS_DECISION, "which?"),
              IsOk());
  Overviews overviews = Watching();
  clock_.Jump(-absl::Hours(2));
  *overviews.wakes = 0;
  for (int i = 0; i < 60; ++i) {
    Pass(absl::Seconds(30));
    Pass(absl::Milliseconds(250));
  }
  // Once when the old plan was due, which makes a new one.
  EXPECT_EQ(*overviews.wakes, 1);
  EXPECT_FALSE(RowOf(OverviewNow(), "w-1").entry().report().overdue());
}

TEST_F(OverviewTest, RestartingTurnsIntoAwayByItself) {
  const TestSession builder = Join("w-1");
  Detach(builder, v1::Goodbye::REASON_RELOAD);
  Overviews overviews = Watching();
  EXPECT_EQ(RowOf(OverviewNow(), "w-1").entry().presence(),
            v1::PRESENCE_RESTARTING);
  Pass(absl::Seconds(5));
  Pass(absl::Milliseconds(250));
  const auto taken = overviews.TakeAll();
  ASSERT_FALSE(taken.empty());
  EXPECT_EQ(RowOf(taken.back(), "w-1").entry().presence(), v1::PRESENCE_AWAY);
}

TEST_F(OverviewTest, ARunThatStallsIsShownWhenItDoes) {
  const TestSession coordinator = Join("c-1");
  const TestSession builder = Join("w-1");
  const std::string run = OpenRun(coordinator, "m-1");
  SayReceipt(builder, run, v1::Receipt::EVENT_INJECTED);
  Overviews overviews = Watching();
  Pass(absl::Seconds(90));
  Pass(absl::Milliseconds(250));
  const auto taken = overviews.TakeAll();
  ASSERT_FALSE(taken.empty());
  EXPECT_TRUE(RowOf(taken.back(), "w-1").run().stalled());
}

TEST_F(OverviewTest, MoreSessionsThanFitAreCounted) {
  std::vector<std::pair<std::string, std::string>> agents = {
      {"c-1", "Coordinator"}};
  for (int i = 0; i < Overview::kMaxSessions + 5; ++i) {
    const std::string number = std::to_string(i);
    agents.emplace_back("many-" + number, "Worker " + number);
  }
  std::vector<TestAgent> entries;
  for (const auto& [id, name] : agents) entries.push_back({id, name});
  WriteConfig(root_, ConfigText(entries));
  Join("c-1");
  const auto overview = OverviewNow();
  EXPECT_EQ(overview.workspaces(0).sessions_size(), Overview::kMaxSessions);
  EXPECT_EQ(overview.left_out(), 6);
}

}  // namespace
}  // namespace intercom
