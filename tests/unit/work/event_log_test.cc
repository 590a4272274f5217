#include "broker/work/event_log.h"

#include <optional>
#include <utility>

#include "broker/work/event_watch.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

LoggedEvent ReportOf(const std::string& session_id,
                     const std::string& root = "/project") {
  auto event = std::make_shared<v1::WatchEventsResponse>();
  event->set_workspace_root(root);
  event->mutable_report()->set_session_id(session_id);
  LoggedEvent logged;
  logged.other = std::move(event);
  return logged;
}

class EventLogTest : public ::testing::Test {
 protected:
  void AppendMany(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      log_.Append(ReportOf("s-" + std::to_string(i)));
    }
  }
  std::unique_ptr<EventWatch> WatchFrom(int64_t place,
                                        const std::string& root = "") {
    EventWatch::Options options;
    options.reader = ++readers_;
    options.place = place;
    options.root = root;
    return std::make_unique<EventWatch>(
        log_, options, [this] { ++wakes_; }, WatchSeats::Seat());
  }
  // Of what is there now, without the start.
  static std::vector<std::string> SessionsIn(EventWatch& watch) {
    std::vector<std::string> sessions;
    while (true) {
      auto next = watch.Take();
      EXPECT_THAT(next, IsOk());
      if (!next.ok() || *next == nullptr) return sessions;
      if (!(*next)->has_start()) {
        sessions.push_back((*next)->report().session_id());
      }
    }
  }

  EventLog log_{"broker-1"};
  int64_t readers_ = 0;
  int wakes_ = 0;
};

TEST_F(EventLogTest, AWatchBeginsWithACursorAndShowsWhatComesAfter) {
  AppendMany(3);
  const auto watch = WatchFrom(log_.End());

  const auto start = watch->Take();
  ASSERT_THAT(start, IsOk());
  EXPECT_TRUE((*start)->has_start());
  EXPECT_EQ((*start)->cursor(), "broker-1.3");
  log_.Append(ReportOf("new"));
  EXPECT_THAT(SessionsIn(*watch), ElementsAre("new"));
}

TEST_F(EventLogTest, ACursorResumesBehindItsEvent) {
  AppendMany(3);
  const auto first = WatchFrom(0);
  (void)first->Take();
  const std::string cursor = (*first->Take())->cursor();

  const auto place = log_.PlaceOf(cursor);
  ASSERT_THAT(place, IsOk());
  EXPECT_THAT(SessionsIn(*WatchFrom(*place)), ElementsAre("s-1", "s-2"));
}

TEST_F(EventLogTest, TheLastEventsAreKeptAndNoMore) {
  AppendMany(EventLog::kKept + 10);

  EXPECT_THAT(log_.PlaceOf(log_.CursorOf(9)),
              FailsWith(absl::StatusCode::kOutOfRange, "CURSOR_EXPIRED"));
  const auto oldest = log_.PlaceOf(log_.CursorOf(10));
  ASSERT_THAT(oldest, IsOk());
  const auto kept = SessionsIn(*WatchFrom(*oldest));
  ASSERT_THAT(kept, SizeIs(EventLog::kKept));
  EXPECT_EQ(kept.front(), "s-10");
  EXPECT_EQ(kept.back(), "s-" + std::to_string(EventLog::kKept + 9));
}

TEST_F(EventLogTest, ACursorOfAnotherBrokerHasExpired) {
  EXPECT_THAT(log_.PlaceOf("broker-0.0"),
              FailsWith(absl::StatusCode::kOutOfRange, "CURSOR_EXPIRED"));
}

TEST_F(EventLogTest, WhatIsNoCursorIsRefused) {
  AppendMany(2);
  for (const char* cursor :
       {"x", "broker-1", "broker-1.", "broker-1.-1", "broker-1.1x",
        "broker-1.3", "broker-1.99999999999999999999"}) {
    EXPECT_THAT(log_.PlaceOf(cursor),
                FailsWith(absl::StatusCode::kInvalidArgument, "CURSOR_INVALID"))
        << cursor;
  }
}

TEST_F(EventLogTest, AWatchThatLagsBehindByAllThatIsKeptEnds) {
  const auto watch = WatchFrom(0);
  (void)watch->Take();
  AppendMany(EventLog::kKept);
  EXPECT_EQ((*watch->Take())->report().session_id(), "s-0");
  AppendMany(2);

  EXPECT_THAT(
      watch->Take().status(),
      FailsWith(absl::StatusCode::kResourceExhausted, "WATCH_TOO_SLOW"));
}

TEST_F(EventLogTest, ABurstWakesAWaitingReaderOnce) {
  const auto watch = WatchFrom(0);
  EXPECT_THAT(SessionsIn(*watch), IsEmpty());
  AppendMany(5);
  EXPECT_EQ(wakes_, 1);
  EXPECT_THAT(SessionsIn(*watch), SizeIs(5));
  AppendMany(1);
  EXPECT_EQ(wakes_, 2);
}

TEST_F(EventLogTest, AWatchThatIsGivenUpIsNotWoken) {
  auto watch = WatchFrom(0);
  EXPECT_THAT(SessionsIn(*watch), IsEmpty());
  watch.reset();
  AppendMany(1);
  EXPECT_EQ(wakes_, 0);
}

TEST_F(EventLogTest, EventsOfOtherWorkspacesAreLeftOutAndNotLookedAtAgain) {
  const auto watch = WatchFrom(0, "/other");
  AppendMany(EventLog::kKept);
  log_.Append(ReportOf("there", "/other"));
  // The place that it began at is gone by now.
  EXPECT_THAT(watch->Take(), IsOk());
  EXPECT_THAT(
      watch->Take().status(),
      FailsWith(absl::StatusCode::kResourceExhausted, "WATCH_TOO_SLOW"));

  const auto second = WatchFrom(log_.End(), "/other");
  EXPECT_THAT(SessionsIn(*second), IsEmpty());
  for (int i = 0; i < 3; ++i) {
    AppendMany(EventLog::kKept / 2);
    EXPECT_THAT(SessionsIn(*second), IsEmpty());
  }
  log_.Append(ReportOf("late", "/other"));
  EXPECT_THAT(SessionsIn(*second), ElementsAre("late"));
}

TEST_F(EventLogTest, ClosingWakesAndEndsEveryWatch) {
  const auto watch = WatchFrom(0);
  EXPECT_THAT(SessionsIn(*watch), IsEmpty());
  log_.Close(absl::UnavailableError("leaving"));
  EXPECT_EQ(wakes_, 1);
  EXPECT_TRUE(absl::IsUnavailable(watch->Take().status()));
}

TEST(WatchSeatsTest, ThereAre64AndTheyComeBack) {
  WatchSeats seats;
  std::vector<WatchSeats::Seat> taken;
  for (int i = 0; i < WatchSeats::kMost; ++i) {
    taken.push_back(seats.Take());
    ASSERT_NE(taken.back(), nullptr) << i;
  }
  EXPECT_EQ(seats.Take(), nullptr);
  EXPECT_EQ(seats.taken(), 64);
  taken.pop_back();
  EXPECT_NE(seats.Take(), nullptr);
}

}  // namespace
}  // namespace intercom
