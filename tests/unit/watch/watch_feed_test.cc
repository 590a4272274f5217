#include "worker-agent/watch/watch_feed.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Kind = WatchEvent::Kind;
constexpr auto kOutput = WatchOrder::Mode::kOutput;
constexpr auto kExit = WatchOrder::Mode::kExit;

std::vector<std::string> Lines(const std::vector<WatchEvent>& events) {
  std::vector<std::string> lines;
  for (const WatchEvent& event : events) {
    if (event.kind == Kind::kLine) lines.push_back(event.out);
  }
  return lines;
}

// `text` in pieces of `size` bytes.
std::vector<WatchEvent> Feed(WatchFeed& feed, const std::string& text,
                             size_t size = 1 << 20) {
  std::vector<WatchEvent> all;
  for (size_t at = 0; at < text.size(); at += size) {
    for (WatchEvent& event : feed.Out(text.substr(at, size))) {
      all.push_back(std::move(event));
    }
  }
  return all;
}

TEST(WatchFeedTest, EachDistinctLineThatIsNotBlankIsAnEvent) {
  WatchFeed feed(kOutput, 20);
  EXPECT_THAT(Lines(Feed(feed, "one\n\n  \t\ntwo\none\nthree\ntwo\n")),
              ElementsAre("one", "two", "three"));
}

TEST(WatchFeedTest, ThePiecesInWhichALineComesMakeNoDifference) {
  const std::string text = "alpha\r\nbeta\nalpha\n" + std::string(50'000, 'x') +
                           "\n" + std::string(50'000, 'x') + "\ngamma\n";
  for (const size_t size : {1, 2, 3, 7, 4096, 1 << 20}) {
    WatchFeed feed(kOutput, 20);
    EXPECT_THAT(Feed(feed, text, size), SizeIs(4)) << size;
  }
}

TEST(WatchFeedTest, ALineIsTheSameWithEitherEnd) {
  WatchFeed feed(kOutput, 20);
  EXPECT_THAT(Lines(Feed(feed, "a\r\na\na\r", 1)), ElementsAre("a"));
  EXPECT_THAT(Lines(Feed(feed, "b\nc\rd\n\r\n", 1)),
              ElementsAre("a\rb", "c\rd"));
}

TEST(WatchFeedTest, GiantLinesThatDifferAtTheirEndAreDistinct) {
  WatchFeed feed(kOutput, 20);
  const std::string giant(3 << 20, 'x');
  const auto events = Feed(feed, giant + "a\n" + giant + "b\n" + giant + "a\n");
  ASSERT_THAT(events, SizeIs(2));
  for (const WatchEvent& event : events) {
    EXPECT_LE(event.out.size(), 16'000U);
    EXPECT_EQ(event.out.size() + static_cast<size_t>(event.left_out),
              giant.size() + 1);
  }
}

TEST(WatchFeedTest, ALineThatNeverEndsIsKeptInPart) {
  WatchFeed feed(kOutput, 20);
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 16; ++i) EXPECT_THAT(feed.Out(piece), IsEmpty());
  const auto events = feed.Deadline();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].partial, std::string(16'000, 'x'));
}

TEST(WatchFeedTest, TheLastLineAskedForEndsIt) {
  WatchFeed feed(kOutput, 2);
  const auto events = Feed(feed, "one\ntwo\nthree\n");
  ASSERT_THAT(Lines(events), ElementsAre("one", "two"));
  EXPECT_FALSE(events[0].last);
  EXPECT_TRUE(events[1].last);
  EXPECT_TRUE(feed.is_over());
  EXPECT_THAT(Feed(feed, "four\n"), IsEmpty());
  EXPECT_THAT(feed.Ended(0), IsEmpty());
}

TEST(WatchFeedTest, ALastLineWithoutItsEndCounts) {
  WatchFeed feed(kOutput, 5);
  Feed(feed, "one\nhalf");
  feed.Err("oops\n");
  const auto events = feed.Ended(0);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0].out, "half");
  EXPECT_EQ(events[1].kind, Kind::kEnded);
  EXPECT_EQ(events[1].err, "oops\n");
  EXPECT_EQ(events[1].lines, 2);
}

TEST(WatchFeedTest, ExitModeIsSilentUntilTheEndAndKeepsTheEndsOfBothOutputs) {
  WatchFeed feed(kExit, 1);
  for (int i = 0; i < 100'000; ++i) {
    EXPECT_THAT(feed.Out("line " + std::to_string(i) + "\n"), IsEmpty());
    feed.Err("error " + std::to_string(i) + "\n");
  }
  const auto events = feed.Ended(7 << 8);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, Kind::kEnded);
  EXPECT_EQ(events[0].status, 7 << 8);
  EXPECT_LE(events[0].out.size(), 32'000U);
  EXPECT_TRUE(events[0].out.ends_with("line 99999\n"));
  EXPECT_GT(events[0].left_out, 0);
  EXPECT_TRUE(events[0].err.ends_with("error 99999\n"));
}

TEST(WatchFeedTest, TheDeadlineKeepsStandardErrorAndTheLineThatHadBegun) {
  WatchFeed feed(kOutput, 5);
  Feed(feed, "one\nPassword: ");
  feed.Err("waiting\n");
  const auto events = feed.Deadline();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0].kind, Kind::kDeadline);
  EXPECT_EQ(events[0].err, "waiting\n");
  EXPECT_EQ(events[0].partial, "Password: ");
  EXPECT_EQ(events[0].lines, 1);
}

TEST(WatchFeedTest, NothingComesAfterTheEnd) {
  WatchFeed feed(kOutput, 5);
  EXPECT_THAT(feed.Deadline(), SizeIs(1));
  EXPECT_THAT(Feed(feed, "late\n"), IsEmpty());
  EXPECT_THAT(feed.Ended(0), IsEmpty());
  EXPECT_THAT(feed.Lost(), IsEmpty());
}

}  // namespace
}  // namespace intercom
