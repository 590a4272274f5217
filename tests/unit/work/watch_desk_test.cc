// Who may watch, how many, and how it ends.
#include "broker/work/watch_desk.h"

#include <set>

#include "broker/domain/identity.h"
#include "tests/support/watch_rig.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::SizeIs;

class WatchDeskTest : public WatchRig {};

TEST_F(WatchDeskTest, EventsBeginWithAStartThatHasACursor) {
  Join("c-1");
  auto events = TryWatchEvents();
  ASSERT_THAT(events, IsOk());
  const auto taken = events->TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].start().broker_version(), "0.0.0");
  EXPECT_NE(taken[0].cursor(), "");
  EXPECT_EQ(FromProto(taken[0].at()), clock_.Now());
}

TEST_F(WatchDeskTest, ACursorShowsWhatCameMeanwhile) {
  auto first = TryWatchEvents();
  ASSERT_THAT(first, IsOk());
  const std::string cursor = first->TakeAll().front().cursor();
  first->watch.reset();
  Join("c-1");

  auto second = TryWatchEvents(cursor);
  ASSERT_THAT(second, IsOk());
  const auto taken = second->TakeAll();
  ASSERT_THAT(taken, SizeIs(2));
  EXPECT_TRUE(taken[0].has_start());
  EXPECT_EQ(taken[1].session().kind(), v1::SessionChange::KIND_ATTACHED);
}

TEST_F(WatchDeskTest, ACursorOfAnotherBrokerHasExpiredAndNoneIsRefused) {
  EXPECT_THAT(TryWatchEvents("other.0"),
              FailsWith(absl::StatusCode::kOutOfRange, "CURSOR_EXPIRED"));
  EXPECT_THAT(TryWatchEvents("nothing"),
              FailsWith(absl::StatusCode::kInvalidArgument, "CURSOR_INVALID"));
  EXPECT_EQ(watches_.watching(), 0);
}

TEST_F(WatchDeskTest, EventsOfOneWorkspaceLeaveOutTheOthers) {
  Join("c-1");
  auto events = TryWatchEvents("", root_);
  ASSERT_THAT(events, IsOk());
  events->TakeAll();
  AttachPeer("p-1");
  Join("w-1");
  const auto taken = events->TakeAll();
  ASSERT_THAT(taken, SizeIs(1));
  EXPECT_EQ(taken[0].session().session_id(), "w-1");
}

TEST_F(WatchDeskTest, ADirectoryWithoutAWorkspaceIsNotFound) {
  EXPECT_THAT(TryWatchEvents("", dir_.path()),
              FailsWith(absl::StatusCode::kNotFound, "NO_WORKSPACE"));
  EXPECT_THAT(TryWatchOverview(dir_.path()),
              FailsWith(absl::StatusCode::kNotFound, "NO_WORKSPACE"));
}

TEST_F(WatchDeskTest, SixtyFourWatchAtOnceAndOneThatLeavesMakesRoom) {
  std::vector<Events> events;
  std::vector<Overviews> overviews;
  for (int i = 0; i < WatchSeats::kMost / 2; ++i) {
    events.push_back(*TryWatchEvents());
    overviews.push_back(*TryWatchOverview());
  }
  EXPECT_THAT(TryWatchEvents(),
              FailsWith(absl::StatusCode::kResourceExhausted, "WATCHES_FULL"));
  EXPECT_THAT(TryWatchOverview(),
              FailsWith(absl::StatusCode::kResourceExhausted, "WATCHES_FULL"));
  overviews.pop_back();
  EXPECT_THAT(TryWatchEvents(), IsOk());
}

TEST_F(WatchDeskTest, ADrainingBrokerEndsEveryWatchAndBeginsNone) {
  auto events = TryWatchEvents();
  auto overviews = TryWatchOverview();
  ASSERT_THAT(events, IsOk());
  ASSERT_THAT(overviews, IsOk());
  events->TakeAll();
  overviews->TakeAll();
  const int woken = *events->wakes + *overviews->wakes;

  watches_.Drain();
  Sync();

  EXPECT_EQ(*events->wakes + *overviews->wakes, woken + 2);
  EXPECT_THAT(events->watch->Take(),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
  EXPECT_THAT(overviews->watch->Take(),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
  EXPECT_THAT(TryWatchEvents(),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
  EXPECT_THAT(TryWatchOverview(),
              FailsWith(absl::StatusCode::kUnavailable, "DRAINING"));
}

TEST_F(WatchDeskTest, AWatchThatWasGivenUpIsForgotten) {
  const TestSession builder = Join("w-1");
  auto overviews = TryWatchOverview();
  ASSERT_THAT(overviews, IsOk());
  const auto wakes = overviews->wakes;
  overviews->watch.reset();
  EXPECT_EQ(watches_.watching(), 0);
  const int woken = *wakes;
  SayActivity(builder, v1::ACTIVITY_PHASE_WORKING, "Thinking");
  Pass(absl::Seconds(1));
  EXPECT_EQ(*wakes, woken);
}

TEST_F(WatchDeskTest, AMonitorSaysInWhichPaneItRuns) {
  std::vector<std::string> claims;
  std::weak_ptr<const void> running;
  watches_.SetOnClaim([&](const std::string& claim, auto watch) {
    claims.push_back(claim);
    running = std::move(watch);
  });
  v1::WatchOverviewRequest request;
  request.set_monitor_claim_id("claim-1");
  {
    Answer<absl::StatusOr<std::shared_ptr<Watch<v1::WatchOverviewResponse>>>>
        begun;
    watches_.WatchOverview(
        Person(), request, [] {}, begun.Callback());
    const auto watch = begun.Wait();
    ASSERT_THAT(watch, IsOk());
    Sync();
    EXPECT_THAT(claims, ElementsAre("claim-1"));
    EXPECT_FALSE(running.expired());
  }
  EXPECT_TRUE(running.expired());
}

TEST_F(WatchDeskTest, MailToAWorkspaceIsAnEventOfItWhoeverSentIt) {
  WriteTeam();
  Join("c-1");
  const TestSession worker = Join("w-1");
  const TestSession peer = AttachPeer("p-1");
  AttachPeer("p-2");
  auto events = TryWatchEvents("", root_);
  ASSERT_THAT(events, IsOk());
  events->TakeAll();
  ASSERT_THAT(Send(Person(), "Reviewer", Message("e1"), root_), IsOk());
  ASSERT_THAT(Send(Person(), "Reviewer", Question("q1"), root_), IsOk());
  Detach(worker);
  ASSERT_THAT(Send(Person(), "Reviewer", Message("e2"), root_), IsOk());
  v1::SendRequest elsewhere;
  *elsewhere.mutable_envelope() = Message("e3");
  elsewhere.set_to("p-2");
  elsewhere.set_reach(v1::REACH_ACCOUNT);
  RecordAnswer sent;
  mail_.Send(CallOf(peer), elsewhere, sent.Callback());
  ASSERT_THAT(sent.Wait(), IsOk());
  Sync();
  std::set<std::string> told;
  for (const auto& event : events->TakeAll()) {
    EXPECT_EQ(event.workspace_root(), root_);
    if (event.has_ask()) told.insert("ask");
    if (event.has_delivery()) {
      told.insert(ParseDeliveryId(event.delivery().delivery().delivery_id())
                      ->envelope_id);
    }
  }
  EXPECT_THAT(told, ElementsAre("ask", "e1", "e2", "q1"));
}

}  // namespace
}  // namespace intercom
