#include "worker-agent/monitor/model.h"

#include "broker/base/error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/sample_team.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr absl::Duration kStart = absl::Hours(1);

class MonitorModelTest : public ::testing::Test {
 protected:
  MonitorModelTest() { Apply(SampleTeam::Overview()); }

  void Apply(v1::WatchOverviewResponse overview) {
    model_.ApplyOverview(std::move(overview), kStart);
  }
  void Press(MonitorKey key, int times = 1) {
    for (int i = 0; i < times; ++i) {
      model_.Press(key, {.page = 3, .most_scroll = 5});
    }
  }
  std::string Selected() const {
    return model_.rows()[model_.selected_row()].session->entry().session_id();
  }
  std::vector<std::string> Order() const {
    std::vector<std::string> ids;
    for (const auto& row : model_.rows()) {
      ids.push_back(row.session->entry().session_id());
    }
    return ids;
  }
  static v1::WatchEventsResponse Event(int number, const std::string& id,
                                       v1::DeliveryState state) {
    v1::WatchEventsResponse event;
    event.set_cursor("c" + std::to_string(number));
    *event.mutable_at() = ToProto(SampleTeam::Now() + absl::Seconds(number));
    v1::DeliverySummary& delivery =
        *event.mutable_delivery()->mutable_delivery();
    delivery.set_delivery_id(id);
    delivery.set_state(state);
    delivery.set_recipient_name("Builder");
    return event;
  }

  MonitorModel model_{
      {.directory = "/proj/ann/shop"}, SampleTeam::Now(), kStart};
};

TEST_F(MonitorModelTest, TheCoordinatorIsFirstAndWhoIsAwayLast) {
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  auto& sessions = *overview.mutable_workspaces(0)->mutable_sessions();
  sessions.SwapElements(0, 3);
  sessions[1].mutable_entry()->set_presence(v1::PRESENCE_AWAY);
  Apply(overview);
  EXPECT_THAT(Order(), ElementsAre("coordinator-1", "tester-1", "reviewer-1",
                                   "translator-1",
                                   "5b7e01c2-4d4e-4f7e-8f6c-0123456789ab",
                                   "builder-1", "writer-1"));
}

TEST_F(MonitorModelTest, TheSelectionFollowsItsSessionThroughAReorder) {
  Press(MonitorKey::kDown, 2);
  ASSERT_EQ(Selected(), "reviewer-1");
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.mutable_workspaces(0)->mutable_sessions()->SwapElements(2, 4);
  Apply(overview);
  EXPECT_EQ(Selected(), "reviewer-1");
  EXPECT_EQ(model_.selected_row(), 4u);
}

TEST_F(MonitorModelTest, WhereTheSelectedOneWasTheNextIsSelected) {
  Press(MonitorKey::kDown, 2);
  v1::WatchOverviewResponse overview = SampleTeam::Overview();
  overview.mutable_workspaces(0)->mutable_sessions()->DeleteSubrange(2, 1);
  Apply(overview);
  EXPECT_EQ(Selected(), "tester-1");
  overview.mutable_workspaces(0)->mutable_sessions()->DeleteSubrange(1, 5);
  Apply(overview);
  EXPECT_EQ(Selected(), "coordinator-1");
}

TEST_F(MonitorModelTest, KeysMoveTheSelectionAndStopAtTheEnds) {
  Press(MonitorKey::kUp);
  EXPECT_EQ(model_.selected_row(), 0u);
  Press(MonitorKey::kPageDown);
  EXPECT_EQ(model_.selected_row(), 3u);
  Press(MonitorKey::kEnd);
  EXPECT_EQ(model_.selected_row(), 6u);
  Press(MonitorKey::kDown);
  EXPECT_EQ(model_.selected_row(), 6u);
  Press(MonitorKey::kHome);
  EXPECT_EQ(model_.selected_row(), 0u);
}

TEST_F(MonitorModelTest, EnterWantsTheSelectedSessionAndEnterAgainDoesNot) {
  EXPECT_EQ(model_.wanted_session(), "");
  Press(MonitorKey::kDown);
  Press(MonitorKey::kEnter);
  EXPECT_EQ(model_.wanted_session(), "builder-1");
  Press(MonitorKey::kDown);
  EXPECT_EQ(model_.wanted_session(), "reviewer-1");
  Press(MonitorKey::kEnter);
  EXPECT_EQ(model_.wanted_session(), "");
}

TEST_F(MonitorModelTest, AnAnswerForAnotherSessionIsIgnored) {
  Press(MonitorKey::kEnter);
  model_.ApplySession("reviewer-1", SampleTeam::Reviewer());
  EXPECT_FALSE(model_.details().has_value());
  model_.ApplySession("coordinator-1", SampleTeam::Reviewer());
  EXPECT_TRUE(model_.details().has_value());
  Press(MonitorKey::kDown);
  EXPECT_FALSE(model_.details().has_value()) << "those of the one before";
}

TEST_F(MonitorModelTest, EscapeClosesTheTopmostAndThenQuits) {
  model_.ApplyEvent(Event(1, "d1", v1::DELIVERY_STATE_SEEN));
  Press(MonitorKey::kEnter);
  Press(MonitorKey::kTimeline);
  Press(MonitorKey::kBody);
  Press(MonitorKey::kHelp);
  Press(MonitorKey::kEscape);
  EXPECT_FALSE(model_.shows_help());
  EXPECT_EQ(model_.wanted_message(), "d1");
  Press(MonitorKey::kEscape);
  EXPECT_EQ(model_.wanted_message(), "");
  EXPECT_EQ(model_.view(), MonitorModel::View::kTimeline);
  Press(MonitorKey::kEscape);
  EXPECT_TRUE(model_.shows_details());
  Press(MonitorKey::kEscape);
  EXPECT_FALSE(model_.shows_details());
  EXPECT_FALSE(model_.is_over());
  Press(MonitorKey::kEscape);
  EXPECT_TRUE(model_.is_over());
}

TEST_F(MonitorModelTest, QuitQuitsWhateverIsOpen) {
  Press(MonitorKey::kEnter);
  Press(MonitorKey::kHelp);
  Press(MonitorKey::kQuit);
  EXPECT_TRUE(model_.is_over());
}

TEST_F(MonitorModelTest, AnEnvelopeIsOneItemThatMovesToTheFront) {
  model_.ApplyEvent(Event(1, "d1", v1::DELIVERY_STATE_ACCEPTED));
  model_.ApplyEvent(Event(2, "d2", v1::DELIVERY_STATE_ACCEPTED));
  model_.ApplyEvent(Event(3, "d1", v1::DELIVERY_STATE_SEEN));
  ASSERT_THAT(model_.timeline().items(), SizeIs(2));
  EXPECT_EQ(model_.timeline().items()[0].id, "d1");
  EXPECT_EQ(model_.timeline().items()[0].state, "seen");
}

TEST_F(MonitorModelTest, WhatIsListedDoesNotReplaceWhatHappenedSince) {
  model_.ApplyEvent(Event(1, "d12", v1::DELIVERY_STATE_REPLIED));
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  EXPECT_THAT(model_.timeline().items(), SizeIs(7));
  EXPECT_EQ(model_.timeline().items()[0].state, "replied");
}

// The list comes again when the broker was away, and events of it are lost.
TEST_F(MonitorModelTest, WhatIsListedReplacesWhatIsOlder) {
  model_.ApplyEvent(Event(-1000, "d12", v1::DELIVERY_STATE_ACCEPTED));
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  EXPECT_THAT(model_.timeline().items(), SizeIs(7));
  EXPECT_EQ(model_.timeline().items()[0].id, "d12");
  EXPECT_EQ(model_.timeline().items()[0].state, "injected");
}

TEST_F(MonitorModelTest, TheTimelineIsBounded) {
  for (int i = 0; i < 600; ++i) {
    model_.ApplyEvent(
        Event(i - 5000, "e" + std::to_string(i), v1::DELIVERY_STATE_SEEN));
  }
  EXPECT_THAT(model_.timeline().items(), SizeIs(Timeline::kMost));
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  EXPECT_THAT(model_.timeline().items(), SizeIs(Timeline::kMost));
  EXPECT_EQ(model_.timeline().items()[0].id, "d12");
}

TEST_F(MonitorModelTest, TheSelectionInTheTimelineStaysWithItsMessage) {
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  Press(MonitorKey::kTimeline);
  Press(MonitorKey::kDown);
  ASSERT_EQ(model_.selected_item(), 1u);
  model_.ApplyEvent(Event(1, "new", v1::DELIVERY_STATE_SEEN));
  EXPECT_EQ(model_.selected_item(), 2u);
  // At the top it stays with the newest.
  Press(MonitorKey::kHome);
  model_.ApplyEvent(Event(2, "newer", v1::DELIVERY_STATE_SEEN));
  EXPECT_EQ(model_.selected_item(), 0u);
}

TEST_F(MonitorModelTest, OnlyAnEnvelopeHasABody) {
  v1::WatchEventsResponse event;
  event.set_cursor("c1");
  event.mutable_session()->set_kind(v1::SessionChange::KIND_ATTACHED);
  EXPECT_TRUE(model_.ApplyEvent(event));
  Press(MonitorKey::kTimeline);
  Press(MonitorKey::kBody);
  EXPECT_EQ(model_.wanted_message(), "");
}

TEST_F(MonitorModelTest, AnActivityIsNoEventOfTheTimeline) {
  v1::WatchEventsResponse event;
  event.mutable_session()->set_kind(v1::SessionChange::KIND_ACTIVITY);
  EXPECT_FALSE(model_.ApplyEvent(event));
  EXPECT_THAT(model_.timeline().items(), IsEmpty());
}

TEST_F(MonitorModelTest, TimeIsTheBrokersAndGoesOnWithTheSteadyClock) {
  EXPECT_EQ(model_.Now(kStart + absl::Seconds(5)),
            SampleTeam::Now() + absl::Seconds(5));
}

TEST_F(MonitorModelTest, ALossIsDatedOnceAndEndsWithAPicture) {
  model_.ApplyLoss("gone", kStart + absl::Seconds(1));
  model_.ApplyLoss("still gone", kStart + absl::Seconds(9));
  EXPECT_EQ(model_.problem(), "still gone");
  EXPECT_EQ(model_.lost_at(), SampleTeam::Now() + absl::Seconds(1));
  Apply(SampleTeam::Overview());
  EXPECT_EQ(model_.problem(), "");
}

TEST_F(MonitorModelTest, AnotherScopeHasAnotherTimeline) {
  model_.ApplyDeliveries(SampleTeam::Deliveries());
  Press(MonitorKey::kAll);
  EXPECT_TRUE(model_.scope().all);
  EXPECT_THAT(model_.timeline().items(), IsEmpty());
}

}  // namespace
}  // namespace intercom
