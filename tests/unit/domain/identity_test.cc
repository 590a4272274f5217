#include "broker/domain/identity.h"

#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace intercom {
namespace {

TEST(SessionIdTest, TakesOneTo256BytesOfUtf8) {
  EXPECT_THAT(CheckSessionId("s"), IsOk());
  EXPECT_THAT(CheckSessionId("2026-01-31T12:00 Ärger 🛰"), IsOk());
  EXPECT_THAT(CheckSessionId(std::string(256, 'x')), IsOk());
}

class BadSessionIdTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BadSessionIdTest, IsRefused) {
  EXPECT_THAT(
      CheckSessionId(GetParam()),
      FailsWith(absl::StatusCode::kInvalidArgument, "SESSION_ID_INVALID"));
}

INSTANTIATE_TEST_SUITE_P(Ids, BadSessionIdTest,
                         ::testing::Values("", std::string(257, 'x'), "a/b",
                                           "a\nb", "a\x7f",
                                           std::string("a\0b", 3), " a", "a ",
                                           "\xff", "a\xc3", "broker",
                                           "person:1000", "client:1000"));

TEST(StableIdTest, HasOneToSixtyFourPlainCharacters) {
  for (const std::string& id :
       {std::string("a"), std::string("Review-desk_2.0"),
        std::string(64, 'x')}) {
    EXPECT_THAT(CheckStableId(id), IsOk()) << id;
  }
  for (const std::string& id :
       {std::string(), std::string("a b"), std::string("a/b"), std::string("é"),
        std::string(65, 'x')}) {
    EXPECT_THAT(CheckStableId(id), FailsWith(absl::StatusCode::kInvalidArgument,
                                             "STABLE_ID_INVALID"))
        << id;
  }
}

TEST(DeliveryIdTest, JoinsAndParses) {
  EXPECT_EQ(DeliveryId("alice", "e-1"), "alice/e-1");
  const auto parts = ParseDeliveryId("alice/e-1");
  ASSERT_TRUE(parts.has_value());
  EXPECT_EQ(parts->sender_session_id, "alice");
  EXPECT_EQ(parts->envelope_id, "e-1");
}

TEST(DeliveryIdTest, HasTwoPartsThatAreNotEmpty) {
  for (const char* text : {"", "alice", "/e-1", "alice/", "/"}) {
    EXPECT_FALSE(ParseDeliveryId(text).has_value()) << text;
  }
}

TEST(SenderTest, OnlyASessionHasAnAgentAndAPersonIsToldOfToo) {
  const auto of = [](v1::Origin origin) {
    v1::Sender sender;
    sender.set_origin(origin);
    return std::pair(IsOfSession(sender), IsToldOf(sender));
  };
  EXPECT_EQ(of(v1::ORIGIN_SESSION), std::pair(true, true));
  EXPECT_EQ(of(v1::ORIGIN_UNSPECIFIED), std::pair(true, true));
  EXPECT_EQ(of(v1::ORIGIN_SHELL), std::pair(true, false));
  EXPECT_EQ(of(v1::ORIGIN_PERSON), std::pair(false, true));
  EXPECT_EQ(of(v1::ORIGIN_CLIENT), std::pair(false, false));
}

}  // namespace
}  // namespace intercom
