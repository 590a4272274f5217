#include "worker-agent/cli/words.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace intercom {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

const absl::Time kNow = absl::FromUnixSeconds(1'800'000'000);

TEST(WordsTest, StatesAndEndsAreTheWordsThatArePrinted) {
  EXPECT_THAT(StateWords(),
              ElementsAre("accepted", "delivered", "injected", "seen",
                          "replied", "cancelled", "superseded", "expired",
                          "refused", "dead-lettered"));
  EXPECT_THAT(StateOfWord("seen"), Optional(v1::DELIVERY_STATE_SEEN));
  EXPECT_EQ(StateOfWord("expired"), std::nullopt);
  EXPECT_THAT(EndOfWord("dead-lettered"),
              Optional(v1::DELIVERY_END_DEAD_LETTERED));
  EXPECT_THAT(KindOfWord("ask"), Optional(v1::ENVELOPE_KIND_ASK));
  EXPECT_EQ(KindOfWord("nonsense"), std::nullopt);
}

TEST(WordsTest, ASpanHasANumberAndAUnit) {
  EXPECT_THAT(SpanOfWord("90s"), Optional(absl::Seconds(90)));
  EXPECT_THAT(SpanOfWord("10m"), Optional(absl::Minutes(10)));
  EXPECT_THAT(SpanOfWord("2h"), Optional(absl::Hours(2)));
  EXPECT_THAT(SpanOfWord("3d"), Optional(absl::Hours(72)));
  for (const char* word : {"", "s", "10", "0s", "-1s", "1w", "1.5h", "1h30m",
                           " 1s", "99999999999999999999s"}) {
    EXPECT_EQ(SpanOfWord(word), std::nullopt) << word;
  }
}

TEST(WordsTest, AMomentIsASpanAgoOrATimeInItsZone) {
  const absl::TimeZone zone = absl::FixedTimeZone(3600);
  const auto moment = [&](const std::string& word) {
    return MomentOfWord(word, kNow, zone);
  };
  EXPECT_THAT(moment("2h"), Optional(kNow - absl::Hours(2)));
  const absl::Time day = absl::FromCivil(absl::CivilSecond(2026, 1, 31), zone);
  EXPECT_THAT(moment("2026-01-31"), Optional(day));
  EXPECT_THAT(moment("2026-01-31 12:30"),
              Optional(day + absl::Hours(12) + absl::Minutes(30)));
  EXPECT_THAT(
      moment("2026-01-31T12:30:05"),
      Optional(day + absl::Hours(12) + absl::Minutes(30) + absl::Seconds(5)));
  // As it is printed.
  EXPECT_THAT(
      moment("2026-01-31 12:30:05Z"),
      Optional(day + absl::Hours(13) + absl::Minutes(30) + absl::Seconds(5)));
  EXPECT_THAT(moment("2026-01-31T00:00+02:00"), Optional(day - absl::Hours(1)));
  for (const char* word :
       {"", "yesterday", "infinite-past", "2026-13-01", "31.1.2026", "12:30"}) {
    EXPECT_EQ(moment(word), std::nullopt) << word;
  }
}

}  // namespace
}  // namespace intercom
